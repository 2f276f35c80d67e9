import { roundPatienceMs } from '@ringwright/base/limits';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RoundQueue } from './round-queue.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('one at a time for each key, in the order they came', async () => {
  const queue = new RoundQueue();
  const order: string[] = [];
  const enter = (key: string, name: string) =>
    queue.enter(key).then((leave) => {
      order.push(name);
      return leave;
    });
  const first = await enter('a', 'first');
  const second = enter('a', 'second');
  const third = enter('a', 'third');
  await enter('b', 'of another key');
  expect(order).toEqual(['first', 'of another key']);
  first();
  await second;
  queue.ended(() => 'a');
  (await third)();
  expect(order).toEqual(['first', 'of another key', 'second', 'third']);
});

test('a round that does not end is not waited for', async () => {
  const queue = new RoundQueue();
  await queue.enter('a');
  const second = queue.enter('a');
  await vi.advanceTimersByTimeAsync(roundPatienceMs);
  const leave = await second;
  leave();
  leave(); // safe to repeat
  queue.ended(() => 'a');
  await queue.enter('a');
});
