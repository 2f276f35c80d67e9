// Attack: hellos in the name of a peer that hangs up cause no additional attempts to connect to it.
import { once } from 'node:events';
import net from 'node:net';
import { peerCallTimeoutMs } from '@ringwright/base/limits';
import { askBackMs } from '@ringwright/base/limits-rings';
import { Link } from '@ringwright/node/link/link';
import { SharedRuns } from '@ringwright/node/shared-runs';
import { expect, onTestFinished, test } from 'vitest';
import { greetAgain, type HelloPorts } from '../hello-exchange.ts';

type Pause = (ms: number) => Promise<void>;

/** Counts the attempts in a minute at a server that hangs up, called every 50 ms and by `also`. */
async function attemptsInAMinute(also: (peer: Link, pause: Pause) => () => void): Promise<number> {
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
  const peer = new Link(`127.0.0.1:${(server.address() as net.AddressInfo).port}`, {
    handlers: new Map(),
    monotonicMs: () => monotonicMs,
    connectTimeoutMs: peerCallTimeoutMs,
    greet: () => Promise.resolve(),
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

test('constant hellos in the name of a peer cause no additional attempts at it', async () => {
  const own = await attemptsInAMinute(() => () => undefined);
  const withHellos = await attemptsInAMinute((peer, pause) => {
    const greet = (): Promise<void> => greetAgain({ pause } as HelloPorts, peer);
    const greetings = new SharedRuns(greet, () => pause(askBackMs));
    return () => void greetings.run(peer.address).catch(() => undefined);
  });
  expect(own).toBeGreaterThan(20);
  expect(withHellos).toBe(own);
});
