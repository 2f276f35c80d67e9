// Moves whole partitions as an operator does, and returns the figures of the rollout.

import { keyBytes } from '../load/key-of.ts';
import { runLoad } from '../load/load-run.ts';
import { keyspace, type RingCluster, type RingServer } from '../peers/ring-cluster.ts';

export interface Moved {
  readonly partitions: number;
  /** Bytes of partition files, as copied. */
  readonly bytes: number;
  /** From the version that lets joiners copy until all have verified and caught up. */
  readonly copySeconds: number;
  /** The whole command: pushes three versions, copies, and drops the old files. */
  readonly rolloutSeconds: number;
}

/** Writes distinct records of this size, about `mib` MiB in total. Returns their number. */
export async function fillRecords(
  addresses: readonly string[],
  { mib, valueBytes }: { readonly mib: number; readonly valueBytes: number },
): Promise<number> {
  const keys = Math.ceil((mib * 2 ** 20) / (valueBytes + keyBytes));
  const load = { kind: 'client', addresses, op: 'fill', seconds: 0, inFlight: 64 } as const;
  await runLoad({ ...load, keys, valueBytes, seed: 1 });
  return keys;
}

/** Rolls out what was committed, until nothing is left to do. */
export async function rollOut(cluster: RingCluster): Promise<Moved> {
  const started = performance.now();
  // The document that DESIGN 9 promises.
  const { copied } = (await cluster.builder('rollout', keyspace)) as {
    copied: { partitions: number; bytes: number; seconds: number };
  };
  const rolloutSeconds = (performance.now() - started) / 1000;
  const { partitions, bytes, seconds: copySeconds } = copied;
  return { partitions, bytes, copySeconds, rolloutSeconds };
}

/** Lets a server join; with `instead`, it takes over everything from that server. */
export async function join(cluster: RingCluster, instead?: RingServer): Promise<Moved> {
  await commitJoin(cluster, instead);
  return rollOut(cluster);
}

/** Starts a server and commits its join; other servers learn of it at the rollout. */
export async function commitJoin(cluster: RingCluster, instead?: RingServer): Promise<void> {
  const { builder } = cluster;
  const { deviceText } = await cluster.addServer();
  await builder('add', keyspace, deviceText, '1');
  const [message, why] = ['a device joins', 'all of a single device goes to another'];
  if (instead === undefined) await builder('commit', keyspace, '-m', message);
  else {
    await builder('remove', keyspace, instead.deviceText);
    await builder('commit', keyspace, '-m', message, '--override', why);
  }
}
