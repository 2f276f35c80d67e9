// The queue of rounds, on fake timers.
import { roundPatienceMs } from '@ringwright/base/limits';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RoundQueue } from './round-queue.ts';

const ballot = { ms: 5, tie: 0 };

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('the rounds of one key have their turns one at a time, in order of arrival', async () => {
  const queue = new RoundQueue();
  const order: string[] = [];
  const enter = (key: string, name: string) =>
    queue.enter(key, ballot).then((leave) => {
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
  queue.ended(() => 'a', ballot);
  (await third)();
  expect(order).toEqual(['first', 'of another key', 'second', 'third']);
});

test('a round that does not end loses its turn after a time', async () => {
  const queue = new RoundQueue();
  await queue.enter('a', ballot);
  const second = queue.enter('a', ballot);
  await vi.advanceTimersByTimeAsync(roundPatienceMs);
  const leave = await second;
  leave();
  leave(); // safe to repeat
  queue.ended(() => 'a', ballot);
  await queue.enter('a', ballot);
});

test('an older record that is stored again does not end a turn', async () => {
  const queue = new RoundQueue();
  await queue.enter('a', ballot);
  let hasTurn = false;
  const second = queue.enter('a', { ms: 6, tie: 0 }).then(() => {
    hasTurn = true;
  });
  queue.ended(() => 'a', { ms: 4, tie: 9 });
  await vi.advanceTimersByTimeAsync(0);
  expect(hasTurn).toBe(false);
  queue.ended(() => 'a', ballot);
  await second;
});
