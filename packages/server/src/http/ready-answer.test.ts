// Tests when a server is ready: a ring that is not ready is named, and does not keep requests for
// other rings away.
import { CodedError } from '@ringwright/base/coded-error';
import { expect, test } from 'vitest';
import { activeOn, servedRing } from '../../../../test/support/served-ring.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import { type ReadyPorts, readyAnswer } from './ready-answer.ts';

const large = activeOn(servedRing({ devices: 3, power: 2 }), 0);
const small = activeOn({ ...large.ring, keyspace: 'small' }, 0);

/** Returns a server on which these partitions are ready, by ring. */
function portsWith(
  ready: Readonly<Record<string, readonly number[]>>,
  list: readonly ActiveRing[] = [large, small],
  shape: Partial<Record<'isMembersOnly' | 'isGranted' | 'isPending' | 'isWaiting', true>> & {
    /** The highest version that was ever active. */
    readonly highest?: number;
    /** Why the disk hangs. */
    readonly stall?: string;
    /** Rings of which no version can be read. */
    readonly unreadable?: readonly string[];
  } = {},
): ReadyPorts {
  const info = (keyspace: string, partition: number) =>
    (ready[keyspace] ?? []).includes(partition) ? { state: 'ready' } : null;
  const get = (name: string) => {
    if (name === small.ring.keyspace) return small;
    throw new CodedError('RING_UNKNOWN', `no ring ${name}`);
  };
  // The answer reads nothing else of the server.
  return {
    rings: {
      list: () => list,
      get,
      highestOnDisk: () => ({ version: shape.highest ?? 1 }),
      unreadable: () => shape.unreadable ?? [],
    },
    store: { info, disk: { stall: () => shape.stall ?? null } },
    guard: { isGranted: () => shape.isGranted === true, isPending: shape.isPending === true },
    proven: { isMembersOnly: () => shape.isMembersOnly === true },
    reconnects: { isWaiting: shape.isWaiting === true },
  } as unknown as ReadyPorts;
}

test('a ring that is not ready is named, and the server is ready for the other ring', () => {
  const { keyspace } = large.ring;
  const ports = portsWith({ [keyspace]: [0, 1, 2, 3], small: [0] });
  expect(readyAnswer(ports, null)).toEqual({
    ready: true,
    rings: [
      { ring: keyspace, ready: true, notReady: 0 },
      { ring: 'small', ready: false, notReady: 3 },
    ],
    waiting: [{ ring: 'small', notReady: 3 }],
  });
  expect(readyAnswer(ports, 'small').ready).toBe(false);
  expect(() => readyAnswer(ports, 'other')).toThrow('no ring other');
});

test('a server on which no ring is ready is not ready', () => {
  expect(readyAnswer(portsWith({ small: [0] }), null).ready).toBe(false);
});

test('a ring without slots here makes the server ready only if all rings are like it', () => {
  const without = { ...small, self: null };
  expect(readyAnswer(portsWith({}, [large, without]), null).ready).toBe(false);
  expect(readyAnswer(portsWith({}, [without]), null).ready).toBe(true);
  expect(readyAnswer(portsWith({}, []), null).ready).toBe(true);
});

test('a server that cannot read its only ring is not ready, unlike one without rings', () => {
  const unreadable = ['other'];
  expect(readyAnswer(portsWith({}, [], { unreadable }), null)).toEqual({
    ready: false,
    rings: [{ ring: 'other', ready: false, notReady: 0 }],
    waiting: [{ ring: 'other', notReady: 0, why: 'RING_STALE' }],
  });
  const complete = { small: [0, 1, 2, 3] };
  expect(readyAnswer(portsWith(complete, [small], { unreadable }), null).ready).toBe(true);
});

test('a server that still waits for its first access document is not ready', () => {
  const complete = { small: [0, 1, 2, 3] };
  expect(readyAnswer(portsWith(complete, [small]), null).ready).toBe(true);
  expect(readyAnswer(portsWith(complete, [small], { isPending: true }), null).ready).toBe(false);
  expect(readyAnswer(portsWith({}, [], { isPending: true }), null).ready).toBe(false);
});

test('a server that peers may not have reconnected to is not ready, and says why', () => {
  const without = { ...large, self: null };
  const ports = portsWith({ small: [0, 1, 2, 3] }, [without, small], { isWaiting: true });
  expect(readyAnswer(ports, null)).toMatchObject({
    ready: false,
    waiting: [{ ring: 'small', notReady: 0, why: 'JUST_STARTED' }],
  });
  // Nobody connects to a server that no ring names.
  expect(readyAnswer(portsWith({}, [without], { isWaiting: true }), null).ready).toBe(true);
});

test('a server outside a ring is ready only if the devices of the ring answer it', () => {
  const without = { ...small, self: null };
  expect(readyAnswer(portsWith({}, [without], { isMembersOnly: true }), null)).toEqual({
    ready: false,
    rings: [{ ring: 'small', ready: false, notReady: 0 }],
    waiting: [{ ring: 'small', notReady: 0, why: 'CALLER_UNPROVEN' }],
  });
  const granted = { isMembersOnly: true, isGranted: true } as const;
  expect(readyAnswer(portsWith({}, [without], granted), null).ready).toBe(true);
});

test('a server that fell back to an older ring is not ready', () => {
  const complete = { small: [0, 1, 2, 3] };
  const { version } = small.ring;
  expect(readyAnswer(portsWith(complete, [small], { highest: version + 1 }), 'small')).toEqual({
    ready: false,
    rings: [{ ring: 'small', ready: false, notReady: 0 }],
    waiting: [{ ring: 'small', notReady: 0, why: 'RING_STALE' }],
  });
});

test('a server whose disk hangs is not ready', () => {
  const ports = portsWith({ small: [0, 1, 2, 3] }, [small], { stall: 'a write does not return' });
  expect(readyAnswer(ports, 'small')).toMatchObject({
    ready: false,
    waiting: [{ ring: 'small', notReady: 0, why: 'DISK_HANGS' }],
  });
});
