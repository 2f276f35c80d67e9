// Tests how durable log entries are applied to a partition whose file is lost.
import { replacedTurnBytesMax } from '@ringwright/base/limits-store';
import { expect, test } from 'vitest';
import { write } from '../../test/support/scratch-store.ts';
import { lostError } from '../file/lost-file.ts';
import { newPartition, noSegment } from '../file/partition.ts';
import { applyGroup, applyWrites } from './apply-writes.ts';

test('a lost file takes no more entries, and the log keeps the entries that it refused', () => {
  const partition = newPartition({ keyspace: 'test', partition: 1, incarnation: 'a' });
  partition.damage = lostError(partition, 'its name is gone');
  expect(partition.dirtySegment).toBe(noSegment);
  const refused: string[] = [];
  applyGroup(partition, [{ change: { state: 'ready', barrierMs: 0, floorMs: 0 } }], {
    files: {
      useRows: () => {
        throw new Error('a copy of it is under way');
      },
    },
    segment: 7,
    answer: (_entry, outcome) => refused.push(outcome.kind),
    refuse: (_entry, { code }) => refused.push(code),
  });
  expect(refused).toEqual(['PARTITION_DAMAGED']);
  expect(partition.dirtySegment).toBe(7);
});

test('a batch that takes several turns keeps the order of its records and changes', () => {
  const partition = newPartition({ keyspace: 'test', partition: 1, incarnation: 'a' });
  const calls: string[] = [];
  const file = {
    apply: (rows: readonly { readonly key: Buffer }[], share: { bytesLeft: number }) =>
      rows
        .filter(({ key }) => {
          if (share.bytesLeft <= 0) return false;
          share.bytesLeft -= replacedTurnBytesMax / 2;
          return calls.push(String(key)) > 0;
        })
        .map(() => ({ kind: 'applied' })),
    change: () => calls.push('floor'),
  };
  const record = (key: string) => ({ ...write(key, 'v', 1), partition, hash: Buffer.alloc(0) });
  const floor = { partition, change: { state: null, barrierMs: 0, floorMs: 5 } };
  const entries = [record('a'), record('b'), floor, record('c'), record('d'), record('e')];
  const answered: unknown[] = [];
  const turns = applyWrites(entries as never[], {
    files: { useRows: () => file as never },
    segment: 7,
    answer: (entry) => answered.push(entry),
    refuse: (_entry, error) => {
      throw error;
    },
  });
  const callsByTurn: string[][] = [];
  for (const _ of turns) callsByTurn.push(calls.splice(0));
  expect([...callsByTurn, calls]).toEqual([['a', 'b'], ['floor', 'c', 'd'], ['e']]);
  expect(answered).toEqual(entries);
});
