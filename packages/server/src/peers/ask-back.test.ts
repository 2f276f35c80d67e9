// Servers are asked back once for all who speak in their name, with rests in between.
import { expect, test } from 'vitest';
import { AskBack } from './ask-back.ts';

function asking() {
  const greeted: string[] = [];
  const rests: (() => void)[] = [];
  const answers: PromiseWithResolvers<void>[] = [];
  const askBack = new AskBack({
    greet: (address) => {
      greeted.push(address);
      const answer = Promise.withResolvers<void>();
      answers.push(answer);
      return answer.promise;
    },
    rest: () => new Promise<void>((resolve) => rests.push(resolve)),
  });
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return { askBack, greeted, rests, answers, settle };
}

test('a thousand who say so at once are one greeting, and one more after a rest', async () => {
  const { askBack, greeted, rests, answers, settle } = asking();
  const first = askBack.ask('a');
  await settle();
  const later = Array.from({ length: 1_000 }, () => askBack.ask('a'));
  expect(new Set(later).size).toBe(1);
  void askBack.ask('b');
  await settle();
  expect(greeted).toEqual(['a', 'b']);
  answers[0]?.resolve();
  await first;
  await settle();
  expect(greeted, 'it rests').toEqual(['a', 'b']);
  rests[0]?.();
  await settle();
  expect(greeted).toEqual(['a', 'b', 'a']);
  answers[2]?.resolve();
  await later[0];
});

test('one that cannot be greeted is told, and asked again after the rest', async () => {
  const { askBack, greeted, rests, answers, settle } = asking();
  const failed = askBack.ask('a');
  await settle();
  answers[0]?.reject(new Error('away'));
  await expect(failed).rejects.toThrow('away');
  await settle();
  rests[0]?.();
  await settle();
  const again = askBack.ask('a');
  await settle();
  answers[1]?.resolve();
  await again;
  expect(greeted).toEqual(['a', 'a']);
});
