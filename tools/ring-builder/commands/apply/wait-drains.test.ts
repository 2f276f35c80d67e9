// Tests how long a rollout waits for old holders to drop their files, with a simulated clock.
import { must } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { expect, test } from 'vitest';
import { idOf, servedRing } from '../../../../test/support/served-ring.ts';
import type { Context } from '../../cli/command.ts';
import { ringTargets } from '../../servers/ring-targets.ts';
import type { RingStatus } from '../../servers/server-status.ts';
import { waitForDrains } from './wait-drains.ts';

const LOOK_MS = 500;
const STALL_MS = 20_000;
/** Slots of partition p: devices p, p + 1 and p + 2 modulo 4. */
const ring = servedRing({ devices: 4, power: 2 });
const down = new CodedError('PEER_UNREACHABLE', '127.0.0.1:6200 cannot be reached');

type Said = (look: number) => RingStatus | CodedError;

function holds(...partitions: number[]): RingStatus {
  const draining = partitions.map((partition) => ({ partition, reason: 'a holder is away' }));
  // waitForDrains reads no other field of a status.
  return {
    ...{ version: ring.version, surplus: partitions.length, draining },
    ...{ fork: null, freshness: { state: 'none' }, held: { drops: 0, quarantines: 0 } },
  } as unknown as RingStatus;
}

interface Wait {
  /** The answers of device 0. By default it is down. */
  readonly first?: Said;
  /** Whether device 0 was removed; then it is no error that it does not answer. */
  readonly isRemoved?: boolean;
  readonly leftBefore?: readonly number[];
}

/** Runs waitForDrains. `third`: the answers of device 3. */
async function wait(third: Said, skipDown: boolean, options: Wait = {}) {
  const { first = () => down, isRemoved = false, leftBefore = [] } = options;
  let [looks, nowMs] = [0, 0];
  const context = { nowMs: () => nowMs } as unknown as Context;
  const watch = {
    pause: async () => void (nowMs += LOOK_MS),
    show: () => undefined,
    look: () => {
      looks += 1;
      const statuses = new Map([first(looks), holds(), holds(), third(looks)].entries());
      if (isRemoved && statuses.get(0) instanceof Error) statuses.delete(0);
      return Promise.resolve({ statuses, rows: [] });
    },
  };
  const bytes = Buffer.alloc(0);
  const states = ring.devices.map((_, id) => ({
    state: isRemoved && id === 0 ? 'removed' : 'active',
  }));
  const state = { devices: states } as unknown as BuilderState;
  const head = {
    ring,
    id: idOf(ring),
    bytes,
    state,
    signing: null,
    signatures: [],
    extraSections: [],
  };
  const addresses = ringTargets(ring, state).map(({ address }) => address);
  const { left } = await waitForDrains(context, {
    ...{ head, watch, stallMs: STALL_MS, skipDown, confirmDrops: false },
    leftBefore: new Set(leftBefore.map((id) => must(addresses[id], 'a server of the ring'))),
  });
  const codes = left.map(({ code }) => code);
  return { seconds: nowMs / 1_000, left: left.map(({ partitions }) => partitions), codes };
}

test('with --skip-down, drops that need a server that is down are left to it', async () => {
  const forDown = await wait(() => holds(2, 3), true);
  expect(forDown.left).toEqual([0, 2]);
  expect(forDown.seconds).toBeLessThan(15);
  expect((await wait(() => holds(2, 3), false)).seconds).toBeGreaterThanOrEqual(20);
});

test('drops that need no server that is down are waited for', async () => {
  // No holder of partition 1 is down.
  const goes = await wait((look) => (look < 20 ? holds(1, 2) : holds(2)), true);
  expect(goes.left).toEqual([0, 1]);
  expect(goes.seconds).toBeGreaterThan(9);
  expect(goes.seconds).toBeLessThan(25);
  const refuses = new CodedError('RING_UNKNOWN', 'no such ring');
  expect((await wait(() => refuses, true)).seconds).toBeGreaterThanOrEqual(20);
});

test('drops that an unsettled fork holds back are not waited for', async () => {
  const fork = { version: 1, id: 'a', other: 'b', settled: null };
  const held = { ...holds(2), fork } as unknown as RingStatus;
  const ended = await wait(() => held, false, { first: () => holds() });
  expect(ended).toMatchObject({ left: [1], codes: ['RING_FORK'] });
  expect(ended.seconds).toBeLessThan(5);
  const settled = { ...held, fork: { ...fork, settled: {} } } as unknown as RingStatus;
  const waits = await wait((look) => (look < 20 ? settled : holds()), false, {
    first: () => holds(),
  });
  expect(waits).toMatchObject({ left: [], codes: [] });
});

test('drops that need a confirmation are not waited for once all others are done', async () => {
  const held = { ...holds(1, 2), held: { drops: 1, quarantines: 1 } };
  const first: Said = (look) => (look < 10 ? holds(3) : holds());
  const ended = await wait(() => held, false, { first });
  expect(ended).toMatchObject({ left: [2], codes: [undefined] });
  expect(ended.seconds).toBeGreaterThan(4);
  expect(ended.seconds).toBeLessThan(10);
  const partly = { ...held, held: { drops: 1, quarantines: 0 } };
  const waits = await wait(() => partly, false, { first: () => holds() });
  expect(waits.seconds).toBeGreaterThanOrEqual(20);
});

test('a removed server that does not answer is waited for at least 10 s', async () => {
  const isBack: Said = (look) => (look < 4 ? down : look < 30 ? holds(1) : holds());
  const back = await wait(() => holds(), false, { first: isBack, isRemoved: true });
  expect(back.left).toEqual([]);
  expect(back.seconds).toBeGreaterThan(14);
  const gone = await wait(() => holds(), false, { isRemoved: true });
  expect(gone).toMatchObject({ left: [0], codes: ['PEER_UNREACHABLE'] });
  expect(gone.seconds).toBeGreaterThanOrEqual(10);
  expect(gone.seconds).toBeLessThan(STALL_MS / 1_000);
});

test('the wait is shorter only for a server that delayed an earlier wave', async () => {
  const again = await wait(() => holds(), false, { isRemoved: true, leftBefore: [0] });
  expect(again.seconds).toBeLessThan(5);
  const another = await wait(() => holds(), false, { isRemoved: true, leftBefore: [3] });
  expect(another.seconds).toBeGreaterThanOrEqual(10);
});
