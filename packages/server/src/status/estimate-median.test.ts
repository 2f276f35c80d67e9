// The middle key estimated from a sample, against all keys of a real file.
import { seededRandom } from '@ringwright/base/random';
import { openStore } from '@ringwright/partition/open-store';
import { circleOf, isInArc } from '@ringwright/ring/partitioner/hash-circle';
import { keyOfText } from '@ringwright/ring/partitioner/key-text';
import type { IntervalPartitioner } from '@ringwright/ring/partitioner/partitioner';
import { expect, test } from 'vitest';
import { scratchFolder } from '../../../../test/support/scratch-folder.ts';
import { estimateMedian } from './estimate-median.ts';

const keyspace = 'cities';
const ranges: IntervalPartitioner = { kind: 'ranges', partitions: 1, starts: [] };
const hashes = { kind: 'hash-intervals', hash: 'md5', partitions: 1 } as const;
const tags: IntervalPartitioner = { ...hashes, hashKey: '/' };
const count = 2_000;

test.each([
  ['ranges', ranges],
  ['hashes', hashes],
  ['hash tags', tags],
] as const)('the middle splits keys in half: %s', async (_name, partitioner) => {
  await using folder = await scratchFolder();
  await using store = await openStore({ directory: folder.path, newIncarnation: () => 'i1' });
  await store.create(keyspace, 0, 'ready');
  const random = seededRandom(8);
  const tagOf = () => Math.floor(40 * (random.next() / 2 ** 32) ** 2);
  const keys = Array.from({ length: count }, (_, n) =>
    Buffer.from(`${tagOf()}/${random.next()}/${n}`),
  );
  await store.write(
    keys.map((key, n) => ({ keyspace, partition: 0, key, value: key, ms: n + 1, tie: 0 })),
  );
  const { at, share, sampled } = (await estimateMedian(store, { keyspace, partitioner }, 0))!;
  // 1,024 keys are drawn, some of them twice.
  expect(sampled).toBeGreaterThan(700);
  const circle = circleOf(partitioner);
  const isBefore = (key: Buffer): boolean =>
    typeof at === 'number'
      ? isInArc({ start: 0, end: at }, circle!.hashOf(key))
      : Buffer.compare(key, keyOfText(at)) < 0;
  const before = keys.filter(isBefore).length / count;
  expect(Math.abs(before - share)).toBeLessThan(0.05);
  // Keys of one tag stay together, and the largest tag has a sixth of all keys.
  expect(Math.abs(before - 0.5)).toBeLessThan(partitioner === tags ? 0.2 : 0.05);
});

test('a partition without a file or without records has no middle', async () => {
  await using folder = await scratchFolder();
  await using store = await openStore({ directory: folder.path, newIncarnation: () => 'i1' });
  expect(await estimateMedian(store, { keyspace, partitioner: ranges }, 0)).toBe(null);
  await store.create(keyspace, 0, 'ready');
  expect(await estimateMedian(store, { keyspace, partitioner: ranges }, 0)).toBe(null);
});

test.each([ranges, hashes])(
  '$kind: a record that is written again and again counts once',
  async (partitioner) => {
    await using folder = await scratchFolder();
    await using store = await openStore({ directory: folder.path, newIncarnation: () => 'i1' });
    await store.create(keyspace, 0, 'ready');
    const written = ['a', 'b', 'c', 'd', 'e', ...Array<string>(200).fill('a')].map((letter, n) => {
      const key = Buffer.from(letter);
      return { keyspace, partition: 0, key, value: key, ms: n + 1, tie: 0 };
    });
    for (const record of written) await store.write([record]);
    const middle = await estimateMedian(store, { keyspace, partitioner }, 0);
    expect(middle?.sampled).toBe(5);
    expect(Math.abs((middle?.share ?? 0) - 0.5)).toBeLessThan(0.11);
  },
);
