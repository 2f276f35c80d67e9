// Many items in waves: order, the bound, and a failure in the middle.
import { expect, test } from 'vitest';
import { mapConcurrent } from './map-concurrent.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('results keep their order, and no more than the bound run at once', async () => {
  let [running, most] = [0, 0];
  const items = Array.from({ length: 50 }, (_, index) => index);
  const results = await mapConcurrent(items, 7, async (item) => {
    running += 1;
    most = Math.max(most, running);
    for (let turns = item % 4; turns > 0; turns -= 1) await turn();
    running -= 1;
    return item * 2;
  });
  expect(results).toEqual(items.map((item) => item * 2));
  expect(most).toBe(7);
  expect(await mapConcurrent([], 7, () => Promise.resolve(1))).toEqual([]);
});

test('a failure is reported, and no further item begins', async () => {
  const begun: number[] = [];
  const work = mapConcurrent([0, 1, 2, 3, 4, 5], 2, async (item) => {
    begun.push(item);
    await turn();
    if (item === 1) throw new Error('lost');
  });
  await expect(work).rejects.toThrow('lost');
  await turn();
  expect(begun.length).toBeLessThanOrEqual(3);
});
