// Tests session tokens that are further ahead than any correct clock: a write is refused with an
// error that names the token and its header.
import { HybridClock } from '@ringwright/base/hybrid-clock';
import { parseSessionToken } from '@ringwright/base/session-token';
import { expect, test } from 'vitest';
import { StampIssuer } from '../clocks/stamp-issuer.ts';
import { changeKey } from './change-key.ts';
import { checkSession, coordinateWrite } from './coordinate.ts';
import { LongWrites } from './long-writes.ts';
import type { CoordinatorPorts } from './with-newest-ring.ts';

const nowMs = 1_000_000;
const ports = {
  clock: new HybridClock(() => nowMs),
  longWrites: new LongWrites(0),
  mutex: { run: (_: string, work: () => unknown) => work() },
} as unknown as CoordinatorPorts;
const request = { keyspace: 'cities', key: Buffer.from('key'), consistency: 'quorum' } as const;
const session = parseSessionToken(`${nowMs + 30_001}.0.1.one`);

test.each<readonly [string, () => Promise<unknown>]>([
  ['a plain write', () => coordinateWrite(ports, { ...request, session, value: null })],
  ['a write by rounds', () => changeKey(ports, { ...request, session }, () => null)],
])('%s with a token too far ahead is refused', async (_, write) => {
  await expect((async () => write())()).rejects.toMatchObject({
    code: 'CLOCK_AHEAD',
    message:
      'the session token 1030001.0.1.one is 30001 ms ahead of the clock, and at most 30000 ms are allowed',
    hint: expect.stringContaining('send the token of the last answer'),
    details: { header: 'x-ringwright-session', token: '1030001.0.1.one', outcome: 'rejected' },
  });
  expect(ports.clock.next(0).ms, 'the clock does not learn from the token').toBe(nowMs);
});

test('a forged token cannot push stamps beyond what other devices accept', async () => {
  const clock = new HybridClock(() => nowMs);
  const issuer = new StampIssuer({ clock, savedMs: 0, save: () => Promise.resolve() });
  // With the highest counter, the next stamp is a millisecond later.
  const furthest = (aheadMs: number) => parseSessionToken(`${nowMs + aheadMs}.65535.1`);
  expect(() => checkSession(clock, furthest(60_000))).toThrow('at most 30000 ms are allowed');
  checkSession(clock, furthest(30_000));
  const stamp = await issuer.issue(0);
  // This holds also for a clock that is 29 s behind this one.
  expect(new HybridClock(() => nowMs - 29_000).aheadMs(stamp)).toBeLessThan(60_000);
  await issuer.close();
});

test('a token with a stamp that the clock has seen is accepted, however far ahead', () => {
  const clock = new HybridClock(() => nowMs);
  clock.observe({ ms: nowMs + 45_000, tie: 0 });
  const token = parseSessionToken(`${nowMs + 45_000}.0.1`);
  expect(() => checkSession(clock, token)).not.toThrow();
});
