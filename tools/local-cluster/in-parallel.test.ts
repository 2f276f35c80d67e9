import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { inParallel } from './in-parallel.ts';

test('every index is done once, never more than allowed at a time', async () => {
  const done: number[] = [];
  let [running, most] = [0, 0];
  await inParallel(100, 7, async (index) => {
    running += 1;
    most = Math.max(most, running);
    await nextTurn();
    running -= 1;
    done.push(index);
  });
  expect(done.sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, index) => index));
  expect(most).toBe(7);
});

test('a failure ends it: no index is begun after it', async () => {
  let begun = 0;
  const job = async (index: number): Promise<void> => {
    begun += 1;
    await nextTurn();
    if (index === 3) throw new Error('third');
  };
  await expect(inParallel(1_000, 2, job)).rejects.toThrow('third');
  expect(begun).toBeLessThan(8);
});

test('nothing to do is done at once', async () => {
  await inParallel(0, 5, () => Promise.reject(new Error('never')));
});
