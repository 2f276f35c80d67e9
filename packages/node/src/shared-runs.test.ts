// A run serves all callers that came before it began, with cooldowns in between.
import { expect, test } from 'vitest';
import { SharedRuns } from './shared-runs.ts';

function shared() {
  const worked: string[] = [];
  const cooldowns: (() => void)[] = [];
  const answers: PromiseWithResolvers<void>[] = [];
  const work = (name: string): Promise<void> => {
    worked.push(name);
    const answer = Promise.withResolvers<void>();
    answers.push(answer);
    return answer.promise;
  };
  const runs = new SharedRuns(work, () => new Promise<void>((resolve) => cooldowns.push(resolve)));
  const flush = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return { runs, worked, cooldowns, answers, flush };
}

test('a thousand callers during a run share one more run, after a cooldown', async () => {
  const { runs, worked, cooldowns, answers, flush } = shared();
  const first = runs.run('a');
  await flush();
  const later = Array.from({ length: 1_000 }, () => runs.run('a'));
  expect(new Set(later).size).toBe(1);
  void runs.run('b');
  await flush();
  expect(worked).toEqual(['a', 'b']);
  answers[0]?.resolve();
  await first;
  await flush();
  expect(worked, 'it cools down').toEqual(['a', 'b']);
  cooldowns[0]?.();
  await flush();
  expect(worked).toEqual(['a', 'b', 'a']);
  answers[2]?.resolve();
  await later[0];
});

test('the caller gets a failure, and the next run comes after the cooldown', async () => {
  const { runs, worked, cooldowns, answers, flush } = shared();
  const failed = runs.run('a');
  await flush();
  answers[0]?.reject(new Error('away'));
  await expect(failed).rejects.toThrow('away');
  await flush();
  cooldowns[0]?.();
  await flush();
  const again = runs.run('a');
  await flush();
  answers[1]?.resolve();
  await again;
  expect(worked).toEqual(['a', 'a']);
});
