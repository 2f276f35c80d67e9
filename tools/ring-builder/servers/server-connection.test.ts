// Asking many servers says how far it is; asking few does not.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { fanOut, serversAtOnceMax } from './server-connection.ts';
import { withProofs } from './server-proofs.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Asks servers that never answer, but for the first three, and returns the lines after 5 s. */
async function linesAsking(servers: number): Promise<string[]> {
  const lines: string[] = [];
  const items = Array.from({ length: servers }, (_, index) => index);
  const answers = (item: number) => (item < 3 ? Promise.resolve() : new Promise<void>(() => {}));
  const ask = async () => {
    await fanOut(items, answers);
    return { json: {}, lines: [] };
  };
  void withProofs({ rings: '' }, { tell: (line) => lines.push(line) }, ask);
  await vi.advanceTimersByTimeAsync(5_000);
  return lines;
}

test('many servers', async () => {
  expect(await linesAsking(4 * serversAtOnceMax)).toEqual(['asked 3 of 128 servers']);
});

test('few servers', async () => {
  expect(await linesAsking(serversAtOnceMax)).toEqual([]);
});

test('the progress ends with the last answer', async () => {
  await withProofs({ rings: '' }, { tell: () => {} }, async () => {
    await fanOut(Array.from({ length: 2 * serversAtOnceMax }), () => Promise.resolve());
    return { json: {}, lines: [] };
  });
  expect(vi.getTimerCount()).toBe(0);
});
