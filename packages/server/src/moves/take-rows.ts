// Stores records of another holder with their own stamps, while a file here is filled.
import { CodedError } from '@ringwright/base/coded-error';
import type { RequestOf } from '@ringwright/wire/message';
import type { push } from '@ringwright/wire/replication';
import type { ActiveRing } from '../rings/active-ring.ts';
import type { LoadPorts } from './load-partition.ts';

/**
 * Durable when it resolves. Skips keys of other partitions: no reader looks for them here, and one
 * in a file must not block every load from it. Waits for a key that a round is deciding. Throws
 * PARTITION_ABSENT, and what a round throws.
 */
export async function takeRows(
  { store, throttle, decide }: Pick<LoadPorts, 'store' | 'throttle' | 'decide'>,
  { active, partition }: { readonly active: ActiveRing; readonly partition: number },
  pushed: RequestOf<typeof push>['rows'],
): Promise<void> {
  const { keyspace } = active.ring;
  const rows = pushed.filter(({ key }) => active.partitionOf(key) === partition);
  await throttle.pass(rows.reduce((sum, { value }) => sum + (value?.length ?? 0), 0));
  const outcomes = await store.write(rows.map((row) => ({ keyspace, partition, ...row })));
  // failpoint: load.rows
  if (outcomes.some(({ kind }) => kind === 'absent')) {
    throw new CodedError('PARTITION_ABSENT', `partition ${partition} went while it was filled`);
  }
  for (const [index, { kind }] of outcomes.entries()) {
    const key = rows[index]?.key;
    if (kind === 'promised' && key !== undefined) await decide(keyspace, key);
  }
}
