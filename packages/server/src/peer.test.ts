// A peer that cannot be reached is left alone for a while, by a clock that never steps.
import { peerRetryMsMin } from '@ringwright/base/limits';
import { expect, test } from 'vitest';
import { freePorts } from '../../../test/support/free-ports.ts';
import { Peer } from './peer.ts';

test('attempts wait for a pause that doubles, and not for the clock of the machine', async () => {
  const [port = 0] = await freePorts(1);
  let monotonicMs = 1_000;
  const peer = new Peer(`127.0.0.1:${port}`, {
    handlers: new Map(),
    monotonicMs: () => monotonicMs,
    greet: () => Promise.resolve(),
    onConnect: () => undefined,
  });
  const attempt = () => peer.connect().then(String, (error: unknown) => String(error));
  const machineClock = Date.now;
  try {
    for (const pauseMs of [peerRetryMsMin, 2 * peerRetryMsMin]) {
      expect(await attempt()).toContain('ECONNREFUSED');
      Date.now = () => machineClock() - 3_600_000; // somebody sets the clock
      expect(await attempt()).not.toContain('ECONNREFUSED');
      monotonicMs += pauseMs - 1;
      expect(await attempt()).not.toContain('ECONNREFUSED');
      monotonicMs += 1;
    }
    expect(await attempt()).toContain('ECONNREFUSED');
  } finally {
    Date.now = machineClock;
    peer.close();
  }
});
