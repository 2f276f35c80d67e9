// Tests which partitions are reported as changed: their followers must learn of every change.
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { scratch, write } from '../../test/support/scratch-store.ts';
import { openStore } from '../open-store.ts';
import type { StartStep } from './start-step.ts';

test('a change of records, state or file is reported exactly once', async () => {
  await using place = scratch();
  const store = await place.open();
  const touched = (): number[] => [...store.takeTouched('test')].sort((a, b) => a - b);
  expect(touched()).toEqual([]);
  for (const partition of [0, 1, 2]) await store.create('test', partition, 'filling');
  expect(touched()).toEqual([0, 1, 2]);
  await store.write([write('a', 'x', 1, 1)]);
  expect(touched()).toEqual([1]);
  await store.setState('test', 1, 'ready');
  await store.setState('test', 2, 'ready');
  expect(touched()).toEqual([1, 2]);
  await store.drop('test', 1, 1_000);
  const [item] = await store.trash.list();
  await store.trash.restore(item!.name);
  expect(touched()).toEqual([1]);
  expect(touched()).toEqual([]);
});

test('the partitions of one keyspace are listed without those of the others', async () => {
  await using place = scratch();
  const store = await place.open();
  for (const keyspace of ['test', 'other']) await store.create(keyspace, 0, 'ready');
  await store.create('other', 1, 'ready');
  const listed = (of?: string): string[] =>
    store.list(of).map(({ keyspace, partition }) => `${keyspace}/${partition}`);
  expect(listed()).toEqual(['test/0', 'other/0', 'other/1']);
  expect(listed('test')).toEqual(['test/0']);
  expect(listed('unknown')).toEqual([]);
});

test('the start reports each partition that it has read and replayed', async () => {
  await using place = scratch();
  const first = await place.open();
  for (const partition of [0, 1, 2]) await first.create('test', partition, 'ready');
  await first.write([write('a', 'x', 1, 0), write('b', 'x', 1, 1)]);
  await first.close();
  const second = await place.open();
  await second.write([write('a', 'y', 2, 0), write('c', 'x', 2, 2)]);
  const steps: string[] = [];
  const onStep = ({ doing, done, partitions }: StartStep): void =>
    void steps.push(`${doing} ${done} of ${partitions}`);
  const { directory } = place.image();
  const store = await openStore({ directory, newIncarnation: randomUUID, onStep });
  await store.close();
  // Partition 2 has a folder only since its first write, which the log still holds.
  expect(steps).toEqual([
    'reading partition folders 1 of 3',
    'reading partition folders 2 of 3',
    'reading partition folders 3 of 3',
    'replaying 1 of 1 segments of the commit log 1 of 2',
    'replaying 1 of 1 segments of the commit log 2 of 2',
  ]);
});
