// The relay sends a greeted member the rings that name it and that it lacks, but nothing that the
// member refused a moment ago.
import { CodedError } from '@ringwright/base/coded-error';
import { ringRelayAgainMs } from '@ringwright/base/limits-rings';
import type { Caller } from '@ringwright/wire/call-channel';
import { expect, test } from 'vitest';
import { activeOn, servedRing } from '../../../../test/support/served-ring.ts';
import { RingRelay } from './ring-relay.ts';

const active = activeOn(servedRing(), 0);
const member = '127.0.0.1:6201';
const held = (keyspace: string, version: number) => {
  return { keyspace, version, id: 'a'.repeat(64), signers: 0 };
};

/** A relay on a fake clock, and a member that accepts rings or fails with a code. */
function relaying(failure: () => CodedError | null = () => null) {
  const now = { ms: 0 };
  const cooledDown = Promise.withResolvers<void>();
  const calls: string[] = [];
  const events: string[] = [];
  const relay = new RingRelay({
    rings: { list: () => [active], find: () => active },
    trust: {
      give: () => {
        calls.push('trust');
        return Promise.resolve();
      },
    },
    deltas: { from: () => Promise.resolve(null) },
    monotonicMs: () => now.ms,
    cooldown: () => cooledDown.promise,
    onSent: (to) => events.push(`sent ${to}`),
    onRefused: (to) => events.push(`refused ${to}`),
  });
  const call = ({ method }: { readonly method: string }): Promise<unknown> => {
    calls.push(method);
    const error = failure();
    if (error !== null) return Promise.reject(error);
    return Promise.resolve({ wanted: true, active: null });
  };
  return { relay, peer: { call } as unknown as Caller, now, cooledDown, calls, events };
}

test('a member without the ring or with an older one gets trust and then the ring', async () => {
  for (const heads of [[], [held('towns', 9)], [held('cities', 0)]]) {
    const { relay, peer, cooledDown, calls, events } = relaying();
    const sending = relay.send(member, peer, heads);
    await relay.send(member, peer, heads);
    expect(calls, 'nothing is sent before the cooldown').toEqual([]);
    cooledDown.resolve();
    await sending;
    expect(calls, 'each one is sent once').toEqual(['trust', 'ring-offer', 'ring-chunk']);
    expect(events).toEqual([`sent ${member}`]);
  }
});

test('a ring is not sent to a member that has it or that it does not name', async () => {
  const { relay, peer, cooledDown, calls } = relaying();
  cooledDown.resolve();
  await relay.send(member, peer, [held('cities', active.ring.version)]);
  await relay.send(member, peer, [held('cities', active.ring.version + 1)]);
  await relay.send('127.0.0.1:6999', peer, []);
  expect(calls).toEqual([]);
});

test('a refusal causes a long pause, and a broken connection does not', async () => {
  let code: 'SIGNATURES_MISSING' | 'PEER_UNREACHABLE' | 'ACCESS_PENDING' = 'PEER_UNREACHABLE';
  const { relay, peer, now, cooledDown, events } = relaying(() => new CodedError(code, 'no'));
  cooledDown.resolve();
  const tries = async (): Promise<number> => {
    await relay.send(member, peer, []);
    return events.length;
  };
  expect([await tries(), await tries()]).toEqual([1, 2]);
  code = 'ACCESS_PENDING'; // a wiped member judges no ring before it has that document
  expect([await tries(), await tries()]).toEqual([3, 4]);
  code = 'SIGNATURES_MISSING';
  expect([await tries(), await tries(), await tries()]).toEqual([5, 5, 5]);
  now.ms += ringRelayAgainMs;
  expect(await tries()).toBe(6);
});
