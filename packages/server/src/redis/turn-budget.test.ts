// The work per turn of the event loop is limited, and the connection that waited longest continues
// first.
import { redisTurnMsMax } from '@ringwright/base/limits-listeners';
import { expect, onTestFinished, test, vi } from 'vitest';
import { TurnBudget } from './turn-budget.ts';

test('a connection with more work than a turn allows does not block the others', async () => {
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  onTestFinished(() => void vi.restoreAllMocks());
  const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
  const budget = new TurnBudget();
  const begun: string[] = [];
  const connections = ['a', 'b', 'c'].map((name) => {
    const goOn = (): void => {
      // A request takes a millisecond.
      for (let requests = 0; requests < 200 && !budget.isSpent(); requests += 1) {
        if (requests === 0) begun.push(name);
        nowMs += 1;
      }
      budget.wait(goOn);
    };
    return goOn;
  });
  for (const goOn of connections) goOn();
  expect(begun, 'the first connection used the whole turn').toEqual(['a']);
  const spentMs = nowMs;
  expect(spentMs).toBeGreaterThanOrEqual(redisTurnMsMax);
  expect(budget.isSpent()).toBe(true);
  for (let turn = 0; turn < 6; turn += 1) await nextTurn();
  expect(begun.slice(0, 6)).toEqual(['a', 'a', 'b', 'c', 'a', 'b']);
});
