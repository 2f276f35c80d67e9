// Connections are paused if, and only if, too much is being answered, and are resumed afterwards.
import { answeringAllBytesMax, answeringBytesMax } from '@ringwright/base/limits-wire';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AnswerBudget } from './answer-budget.ts';

function connected(count: number) {
  const budget = new AnswerBudget();
  return Array.from({ length: count }, () => {
    const one = { isPaused: false, bytes: 0 };
    const answering = budget.connection({
      pause: () => {
        expect(one.isPaused).toBe(false);
        one.isPaused = true;
      },
      resume: () => {
        expect(one.isPaused).toBe(true);
        one.isPaused = false;
      },
    });
    const change = (bytes: number): void => {
      one.bytes += bytes;
      answering(bytes);
    };
    return { one, change };
  });
}

test('exactly the connections over a limit are paused, whatever arrives and is answered', () => {
  const step = fc.record({ at: fc.nat(11), bytes: fc.integer({ min: 1, max: answeringBytesMax }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const all = connected(12);
      for (const { at, bytes } of steps) {
        const { one, change } = all[at]!;
        // A paused connection brings nothing: some or all of its bytes are answered.
        change(one.isPaused ? -Math.min(bytes, one.bytes) : bytes);
        const sum = all.reduce((total, { one: { bytes: own } }) => total + own, 0);
        for (const { one: other } of all) {
          const isOver = sum > answeringAllBytesMax && other.bytes > 0;
          const wasFine = other !== one && !other.isPaused;
          // This frame does not stop other connections: their next frame does.
          if (!wasFine) expect(other.isPaused).toBe(isOver || other.bytes > answeringBytesMax);
        }
        expect(sum).toBeLessThanOrEqual(answeringAllBytesMax + all.length * answeringBytesMax);
      }
      for (const { one, change } of all) change(-one.bytes);
      expect(all.filter(({ one }) => one.isPaused)).toEqual([]);
    }),
  );
});

test('a connection that has brought nothing may bring a frame, whatever others have', () => {
  const [late, ...others] = connected(12);
  for (const { change } of others) change(answeringBytesMax);
  expect(late?.one.isPaused).toBe(false);
  late?.change(1);
  expect(late?.one.isPaused).toBe(true);
  late?.change(-1);
  expect(late?.one.isPaused).toBe(false);
});
