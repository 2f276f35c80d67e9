// Tests how durable log entries are applied to a partition whose file is lost.
import { expect, test } from 'vitest';
import { lostError } from '../file/lost-file.ts';
import { newPartition, noSegment } from '../file/partition.ts';
import { applyGroup } from './apply-writes.ts';

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
