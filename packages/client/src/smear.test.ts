// Puts that wait for a random moment of a window, and puts that do not.
import { coordinatePut } from '@ringwright/wire/coordination';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Client } from './client.ts';
import { connect } from './connect.ts';
import type { RingFollower } from './ring-follower.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const windowMs = 1_000;

/** Returns a client of one server, and the times at which its puts were sent. */
function clientThatSmears() {
  const sentMs: number[] = [];
  const call = (message: unknown): Promise<unknown> => {
    expect(message).toBe(coordinatePut);
    sentMs.push(Date.now());
    return Promise.resolve({ ms: 1, counter: 0, tie: 0, ringVersion: 1 });
  };
  const follower = {
    ring: { partitionOf: () => 0 },
    choose: () => ['a'],
    openFirst: () => Promise.resolve({ address: 'a', channel: { call } }),
    noteRingVersion: () => undefined,
    close: () => undefined,
  } as unknown as RingFollower;
  const settings = { keyspace: 'events', session: null, timeoutMs: 1, smearMs: windowMs };
  return { sentMs, client: new Client(follower, { ...settings, consistency: 'quorum' }) };
}

test('puts of one moment are sent throughout the window and resolve when stored', async () => {
  const { sentMs, client } = clientThatSmears();
  const begunMs = Date.now();
  const puts = Array.from({ length: 200 }, (_, index) => client.put(`key${index}`, 'value'));
  const stored = Promise.all(puts);
  await vi.advanceTimersByTimeAsync(windowMs);
  expect(await stored).toHaveLength(200);
  const tenths = new Set(sentMs.map((ms) => Math.floor((10 * (ms - begunMs)) / windowMs)));
  expect(tenths.size).toBeGreaterThanOrEqual(10);
});

test('a single put may opt out, and windows beyond the limits are refused', async () => {
  const { sentMs, client } = clientThatSmears();
  await client.put('now', 'value', { smearMs: 0 });
  expect(sentMs).toHaveLength(1);
  for (const smearMs of [-1, Number.NaN, 120_001]) {
    const put = client.put('key', 'value', { smearMs });
    await expect(put).rejects.toMatchObject({ code: 'VALUE_OUT_OF_RANGE' });
    const connected = connect(['127.0.0.1:1'], { keyspace: 'events', smearMs });
    await expect(connected).rejects.toMatchObject({ code: 'VALUE_OUT_OF_RANGE' });
  }
  expect(sentMs).toHaveLength(1);
});

test('a waiting put is not sent once the client is closed', async () => {
  const { sentMs, client } = clientThatSmears();
  const put = client.put('key', 'value');
  const refused = expect(put).rejects.toMatchObject({ code: 'CLIENT_CLOSED' });
  await client.close();
  await vi.advanceTimersByTimeAsync(windowMs);
  await refused;
  expect(sentMs).toEqual([]);
});
