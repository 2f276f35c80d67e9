// Reads at several servers: which server is queried when, and which answer or failure counts.
import { CodedError } from '@ringwright/base/coded-error';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { hedgedRequest } from './hedged-request.ts';
import { serverChoice } from './server-choice.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

interface Waiting {
  readonly resolve: (answer: string) => void;
  readonly reject: (error: Error) => void;
}

function reading(addresses: readonly string[]) {
  const asked: string[] = [];
  const slow: string[] = [];
  const servers = new Map<string, Waiting>();
  const answer = hedgedRequest({
    addresses,
    ask: (address) => {
      asked.push(address);
      return new Promise<string>((resolve, reject) => servers.set(address, { resolve, reject }));
    },
    hedgeMs: 100,
    onSlow: (address) => slow.push(address),
    mayHelp: (error) => !(error instanceof TypeError),
  });
  answer.catch(() => undefined);
  const server = (address: string): Waiting => servers.get(address)!;
  return { asked, slow, server, answer };
}

test('if the first server answers, no other is queried', async () => {
  const read = reading(['a', 'b']);
  read.server('a').resolve('from a');
  expect(await read.answer).toBe('from a');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(read.asked).toEqual(['a']);
  expect(read.slow).toEqual([]);
});

test('a slow server is reported, the next is queried, and the first answer counts', async () => {
  const read = reading(['a', 'b', 'c']);
  await vi.advanceTimersByTimeAsync(100);
  expect([read.asked, read.slow]).toEqual([['a', 'b'], ['a']]);
  read.server('b').resolve('from b');
  expect(await read.answer).toBe('from b');
  read.server('a').resolve('too late');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(read.asked).toEqual(['a', 'b']);
});

test('after a failure the next server is queried at once, unless it is final', async () => {
  const read = reading(['a', 'b', 'c']);
  read.server('a').reject(new Error('away'));
  await vi.advanceTimersByTimeAsync(0);
  expect(read.asked).toEqual(['a', 'b']);
  read.server('b').reject(new TypeError('a wrong key'));
  await expect(read.answer).rejects.toThrow('a wrong key');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(read.asked).toEqual(['a', 'b']);
});

test('the error of a server takes precedence over a broken connection', async () => {
  const read = reading(['a', 'b']);
  await vi.advanceTimersByTimeAsync(100);
  read.server('b').reject(new CodedError('SESSION_BEHIND', 'not sure'));
  read.server('a').reject(new CodedError('PEER_TIMEOUT', 'no answer'));
  await expect(read.answer).rejects.toThrow('not sure');
});

test('healthy holders come first, then healthy others, then the rest, each once', () => {
  const choose = (sick: readonly string[]): string[] =>
    serverChoice({
      groups: [
        ['a', 'b'],
        ['b', 'c', 'a', 'd', 'e'],
      ],
      isWell: (address) => !sick.includes(address),
    });
  expect(choose([])).toEqual(['a', 'b', 'c', 'd']);
  expect(choose(['a'])).toEqual(['b', 'c', 'd', 'e']);
  expect(choose(['a', 'b', 'c', 'd', 'e'])).toEqual(['a', 'b', 'c', 'd']);
});
