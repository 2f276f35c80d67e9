// A server that has started waits until the running servers have called it.
import { expect, test } from 'vitest';
import { PeerReconnects } from './peer-reconnects.ts';

const reached = (): Promise<void> => Promise.resolve();
const long = { minMs: 0, maxMs: 60_000 };

test('each reachable peer is awaited until it calls', async () => {
  const back = new PeerReconnects();
  const waiting = back.wait(['a', 'b'], reached, long);
  expect(back.isWaiting).toBe(true);
  back.noteCall('a');
  back.noteCall('another');
  await new Promise(setImmediate);
  expect(back.isWaiting).toBe(true);
  back.noteCall('b');
  await waiting;
  expect(back.isWaiting).toBe(false);
});

test('a peer that is down is not awaited, and a silent one only for a while', async () => {
  const back = new PeerReconnects();
  const down = (): Promise<void> => Promise.reject(new Error('refused'));
  await back.wait(['a', 'b'], down, long);
  await back.wait(['a'], reached, { minMs: 0, maxMs: 10 });
  await back.wait(['a'], () => new Promise(() => undefined), { minMs: 0, maxMs: 10 });
  expect(back.isWaiting).toBe(false);
});

test('a minimum wait leaves time for peers that no ring names, if there are others', async () => {
  const back = new PeerReconnects();
  const waiting = back.wait(['a'], reached, { minMs: 20, maxMs: 60_000 });
  back.noteCall('a');
  await new Promise(setImmediate);
  expect(back.isWaiting).toBe(true);
  await waiting;
  await back.wait([], reached, long);
  expect(back.isWaiting).toBe(false);
});
