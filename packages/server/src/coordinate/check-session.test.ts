// A session token that no clock can have made: a write says that it is the token, and which header.
import { HybridClock } from '@ringwright/base/hybrid-clock';
import { parseSessionToken } from '@ringwright/base/session-token';
import { expect, test } from 'vitest';
import { changeKey } from './change-key.ts';
import { coordinateWrite } from './coordinate.ts';
import type { CoordinatorPorts } from './with-newest-ring.ts';

const nowMs = 1_000_000;
const ports = {
  clock: new HybridClock(() => nowMs),
  mutex: { run: (_: string, work: () => unknown) => work() },
} as unknown as CoordinatorPorts;
const request = { keyspace: 'cities', key: Buffer.from('key'), consistency: 'quorum' } as const;
const session = parseSessionToken(`${nowMs + 60_001}.0.1.one`);

test.each<readonly [string, () => Promise<unknown>]>([
  ['a plain write', () => coordinateWrite(ports, { ...request, session, value: null })],
  ['a write by rounds', () => changeKey(ports, { ...request, session }, () => null)],
])('%s', async (_, write) => {
  await expect((async () => write())()).rejects.toMatchObject({
    code: 'CLOCK_AHEAD',
    message: 'the session token 1060001.0.1.one is 60001 ms ahead, 60000 is the most',
    hint: expect.stringContaining('send the token of the last answer'),
    details: { header: 'x-ringwright-session', token: '1060001.0.1.one', outcome: 'rejected' },
  });
  expect(ports.clock.next(0).ms, 'it is not learnt').toBe(nowMs);
});
