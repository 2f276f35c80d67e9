// Moves of whole partitions as an operator makes them, and what the rollout says of them.

import { keyBytes } from '../load/key-of.ts';
import { runLoad } from '../load/load-run.ts';
import { keyspace, type RingCluster, type RingServer } from '../peers/ring-cluster.ts';

export interface Moved {
  readonly partitions: number;
  /** Of partition files, as they were copied. */
  readonly bytes: number;
  /** From the version that lets joiners copy until all had verified and caught up. */
  readonly copySeconds: number;
  /** The whole command: three versions pushed, the copies, the old files given up. */
  readonly rolloutSeconds: number;
}

/** Distinct records of this size, together about so many MiB. */
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

/** A server joins; with `instead` everything of that one goes to it. */
export async function join(cluster: RingCluster, instead?: RingServer): Promise<Moved> {
  await commitJoin(cluster, instead);
  return rollOut(cluster);
}

/** A server is started and committed; no other one hears of it before the rollout. */
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
