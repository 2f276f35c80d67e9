// Takes over the open promises of another device, before this device counts in its place or has
// refilled from it.
import { CodedError } from '@ringwright/base/coded-error';
import type { Write, WriteOutcome } from '@ringwright/partition/file/record';
import { promises } from '@ringwright/wire/replication';
import type { ActivePartition } from '../rings/active-ring.ts';
import type { LoadPorts } from './load-task.ts';

/**
 * To be called when all records of the device are here. Needs no round, and so no quorum: the only
 * other holder may be the one that refills. A device of an older wire version does not send the
 * stamps of its promises, so a round decides those keys. Durable when it resolves. Throws
 * PARTITION_ABSENT, and what the device and a round throw.
 */
export async function takeOverBallots(
  { store, devices, decide }: Pick<LoadPorts, 'store' | 'devices' | 'decide'>,
  holder: ActivePartition & { readonly device: number },
): Promise<void> {
  const { active, partition, device } = holder;
  const { keyspace, version: ringVersion } = active.ring;
  const request = { keyspace, ringVersion, partition };
  let after: Uint8Array = new Uint8Array();
  for (let isMore = true; isMore; ) {
    const answer = await devices.call({ active, device }, promises, { ...request, after });
    const writes: Write[] = [];
    for (const [index, key] of answer.keys.entries()) {
      const stamp = answer.stamps?.[index];
      if (stamp === undefined) await decide(keyspace, key);
      else writes.push(promiseOf({ keyspace, partition, key }, stamp));
    }
    requireFile(await store.write(writes), partition);
    after = answer.keys.at(-1) ?? after;
    isMore = answer.more && answer.keys.length > 0;
  }
}

/** Throws PARTITION_ABSENT if a write found no file. */
export function requireFile(outcomes: readonly WriteOutcome[], partition: number): void {
  if (!outcomes.some(({ kind }) => kind === 'absent')) return;
  const message = `partition ${partition} was dropped while it was filled`;
  throw new CodedError('PARTITION_ABSENT', message);
}

function promiseOf(
  target: { readonly keyspace: string; readonly partition: number; readonly key: Uint8Array },
  [ms, tie]: readonly [number, number],
): Write {
  return { ...target, value: null, ms, tie, isPreparedBallot: true };
}
