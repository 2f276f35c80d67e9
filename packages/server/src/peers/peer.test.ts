// A peer that cannot be reached is left alone for a while, by a clock that never steps.

import { once } from 'node:events';
import net from 'node:net';
import { peerRetryMsMin } from '@ringwright/base/limits';
import { askBackMs } from '@ringwright/base/limits-rings';
import { expect, onTestFinished, test } from 'vitest';
import { freePorts } from '../../../../test/support/free-ports.ts';
import { greetAgain, type IntroducePorts } from '../introduce.ts';
import { AskBack } from './ask-back.ts';
import { Peer } from './peer.ts';

test('attempts wait for a pause that doubles, and not for the clock of the machine', async () => {
  const [port = 0] = await freePorts(1);
  let monotonicMs = 1_000;
  const peer = new Peer(`127.0.0.1:${port}`, {
    handlers: new Map(),
    monotonicMs: () => monotonicMs,
    pause: () => Promise.reject(new Error('nobody waits')),
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

type Pause = (ms: number) => Promise<void>;

/** Attempts in a minute at a server that hangs up, called every 50 ms beside what else is done. */
async function attemptsInAMinute(also: (peer: Peer, pause: Pause) => () => void): Promise<number> {
  let attempts = 0;
  const server = net.createServer((socket) => {
    attempts += 1;
    socket.destroy();
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  let monotonicMs = 1_000;
  const pauses: { readonly atMs: number; readonly end: () => void }[] = [];
  const pause: Pause = (ms) => new Promise((end) => pauses.push({ atMs: monotonicMs + ms, end }));
  const peer = new Peer(`127.0.0.1:${(server.address() as net.AddressInfo).port}`, {
    handlers: new Map(),
    monotonicMs: () => monotonicMs,
    pause,
    greet: () => Promise.resolve(),
    onConnect: () => undefined,
  });
  const alsoDo = also(peer, pause);
  for (const endMs = monotonicMs + 60_000; monotonicMs < endMs; monotonicMs += 50) {
    for (const due of pauses.filter(({ atMs }) => atMs <= monotonicMs)) {
      pauses.splice(pauses.indexOf(due), 1);
      due.end();
    }
    alsoDo();
    await new Promise((resolve) => setImmediate(resolve));
    await peer.connect().catch(() => undefined);
  }
  return attempts;
}

test('whoever says hello in its name all the time causes no attempt more', async () => {
  const own = await attemptsInAMinute(() => () => undefined);
  const withHellos = await attemptsInAMinute((peer, pause) => {
    const greet = (): Promise<void> => greetAgain({} as IntroducePorts, peer);
    const askBack = new AskBack({ greet, rest: () => pause(askBackMs) });
    return () => void askBack.ask(peer.address).catch(() => undefined);
  });
  expect(own).toBeGreaterThan(20);
  expect(withHellos).toBe(own);
});
