// One budget for all fetches of rings: how many run at once, and how much memory they use.
import { ringFetchesBytesMax, ringFetchesMax } from '@ringwright/base/limits-rings';
import { expect, test } from 'vitest';
import { RingFetches } from './ring-exchange.ts';

const flush = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('fetches above the limit wait for a place, and each place is used again', async () => {
  const fetches = new RingFetches();
  let running = 0;
  let most = 0;
  const gates: (() => void)[] = [];
  const work = Array.from({ length: 3 * ringFetchesMax }, (_, number) =>
    fetches.run(async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => gates.push(resolve));
      running -= 1;
      if (number % 2 === 0) throw new Error('broke off');
      return number;
    }),
  );
  const ended = Promise.allSettled(work);
  for (let opened = 0; opened < work.length; opened += 1) {
    await flush();
    expect(running).toBe(Math.min(ringFetchesMax, work.length - opened));
    gates[opened]?.();
  }
  expect((await ended).filter(({ status }) => status === 'fulfilled')).toHaveLength(6);
  expect(most).toBe(ringFetchesMax);
});

test('all fetches share a limit of bytes, and a fetch returns its bytes at its end', async () => {
  const fetches = new RingFetches();
  const gate = Promise.withResolvers<void>();
  const half = ringFetchesBytesMax / 2;
  const first = fetches.run(async (take) => {
    take(half);
    await gate.promise;
  });
  const tooMuch = fetches.run((take) => {
    take(half);
    take(1);
    return Promise.resolve();
  });
  await expect(tooMuch).rejects.toThrow(expect.objectContaining({ code: 'PEER_BUSY' }));
  await fetches.run((take) => Promise.resolve(take(half)));
  gate.resolve();
  await first;
  await fetches.run((take) => Promise.resolve(take(ringFetchesBytesMax)));
});
