// Names that no resolver answers must not keep other names from being resolved.
import type { LookupFunction } from 'node:net';
import { expect, test } from 'vitest';
import { fairLookUp, slowLookupMs } from './look-up.ts';

/** A resolver that answers when it is told to, and a clock. */
function resolver() {
  const asked: string[] = [];
  const answers = new Map<string, () => void>();
  const world = { nowMs: 0 };
  const lookUp = fairLookUp(
    (name, _options, answer) => {
      asked.push(name);
      answers.set(name, () => answer(null, `address of ${name}`, 4));
    },
    () => world.nowMs,
  );
  /** Answers after `ms`. */
  const answer = (name: string, ms: number): void => {
    world.nowMs += ms;
    answers.get(name)?.();
  };
  return { asked, answer, lookUp };
}

function resolve(lookUp: LookupFunction, name: string): Promise<unknown> {
  return new Promise((done) => lookUp(name, {}, (_error, address) => done(address)));
}

test('a name is resolved once for all that wait for it, and again for later ones', async () => {
  const { asked, answer, lookUp } = resolver();
  const all = [resolve(lookUp, 'sd1'), resolve(lookUp, 'sd1')];
  expect(asked).toEqual(['sd1']);
  answer('sd1', 1);
  expect(await Promise.all(all)).toEqual(['address of sd1', 'address of sd1']);
  void resolve(lookUp, 'sd1');
  expect(asked).toEqual(['sd1', 'sd1']);
});

test('names that were slow are resolved one after the other, beside the others', async () => {
  const { asked, answer, lookUp } = resolver();
  for (const name of ['slow1', 'slow2']) void resolve(lookUp, name);
  answer('slow1', slowLookupMs + 1);
  answer('slow2', 0);
  asked.length = 0;
  const [, second, fast] = ['slow1', 'slow2', 'sd3'].map((name) => resolve(lookUp, name));
  expect(asked).toEqual(['slow1', 'sd3']);
  answer('sd3', 1);
  expect(await fast).toBe('address of sd3');
  answer('slow1', 0);
  expect(asked).toEqual(['slow1', 'sd3', 'slow2']);
  // It answers in time now, so it waits for no other any more.
  answer('slow2', 0);
  expect(await second).toBe('address of slow2');
  for (const name of ['slow2', 'slow1']) void resolve(lookUp, name);
  expect(asked.slice(3)).toEqual(['slow2', 'slow1']);
});
