// Servers are asked back once for all who speak in their name, with cooldowns in between.
import { expect, test } from 'vitest';
import { AskBack } from './ask-back.ts';

function asking() {
  const greeted: string[] = [];
  const cooldowns: (() => void)[] = [];
  const answers: PromiseWithResolvers<void>[] = [];
  const askBack = new AskBack({
    greet: (address) => {
      greeted.push(address);
      const answer = Promise.withResolvers<void>();
      answers.push(answer);
      return answer.promise;
    },
    cooldown: () => new Promise<void>((resolve) => cooldowns.push(resolve)),
  });
  const flush = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return { askBack, greeted, cooldowns, answers, flush };
}

test('a thousand who say so at once are one greeting, and one more after a cooldown', async () => {
  const { askBack, greeted, cooldowns, answers, flush } = asking();
  const first = askBack.ask('a');
  await flush();
  const later = Array.from({ length: 1_000 }, () => askBack.ask('a'));
  expect(new Set(later).size).toBe(1);
  void askBack.ask('b');
  await flush();
  expect(greeted).toEqual(['a', 'b']);
  answers[0]?.resolve();
  await first;
  await flush();
  expect(greeted, 'it cools down').toEqual(['a', 'b']);
  cooldowns[0]?.();
  await flush();
  expect(greeted).toEqual(['a', 'b', 'a']);
  answers[2]?.resolve();
  await later[0];
});

test('one that cannot be greeted is told, and asked again after the rest', async () => {
  const { askBack, greeted, cooldowns, answers, flush } = asking();
  const failed = askBack.ask('a');
  await flush();
  answers[0]?.reject(new Error('away'));
  await expect(failed).rejects.toThrow('away');
  await flush();
  cooldowns[0]?.();
  await flush();
  const again = askBack.ask('a');
  await flush();
  answers[1]?.resolve();
  await again;
  expect(greeted).toEqual(['a', 'a']);
});
