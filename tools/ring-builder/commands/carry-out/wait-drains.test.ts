// Files that old holders have yet to give up: waited for as long as waiting helps.
import { CodedError } from '@ringwright/base/coded-error';
import { expect, test } from 'vitest';
import { idOf, servedRing } from '../../../../test/support/served-ring.ts';
import type { Context } from '../../cli/verb.ts';
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
  // Nothing else of a status is looked at here.
  return {
    ...{ version: ring.version, surplus: partitions.length, draining },
    ...{ fork: null, freshness: { state: 'none' } },
  } as unknown as RingStatus;
}

/** Device 0 is down; `third`: what device 3 says. */
async function wait(third: Said, skipDown: boolean, first: Said = () => down) {
  let [looks, nowMs] = [0, 0];
  const context = { nowMs: () => nowMs } as unknown as Context;
  const watch = {
    show: () => undefined,
    look: () => {
      looks += 1;
      setTimeout(() => void (nowMs += LOOK_MS)); // in the pause after it
      const said = [first(looks), holds(), holds(), third(looks)];
      return Promise.resolve({ said: new Map(said.entries()), rows: [] });
    },
  };
  const bytes = Buffer.alloc(0);
  const head = { ring, id: idOf(ring), bytes, state: null, signing: null, extraSections: [] };
  const options = { stallMs: STALL_MS, skipDown, confirmDrops: false };
  const { left } = await waitForDrains(context, { head, watch, ...options });
  const codes = left.map(({ code }) => code);
  return { seconds: nowMs / 1_000, left: left.map(({ partitions }) => partitions), codes };
}

test('what only waits for a server that is down is left to it, with --skip-down', async () => {
  const forDown = await wait(() => holds(2, 3), true);
  expect(forDown.left).toEqual([0, 2]);
  expect(forDown.seconds).toBeLessThan(15);
  expect((await wait(() => holds(2, 3), false)).seconds).toBeGreaterThanOrEqual(20);
});

test('what can go is waited for', async () => {
  // Partition 1 has no holder that is down.
  const goes = await wait((look) => (look < 20 ? holds(1, 2) : holds(2)), true);
  expect(goes.left).toEqual([0, 1]);
  expect(goes.seconds).toBeGreaterThan(9);
  expect(goes.seconds).toBeLessThan(25);
  const refuses = new CodedError('RING_UNKNOWN', 'no such ring');
  expect((await wait(() => refuses, true)).seconds).toBeGreaterThanOrEqual(20);
});

test('what a fork holds back waits for a word, not for time', async () => {
  const fork = { version: 1, id: 'a', other: 'b', settled: null };
  const held = { ...holds(2), fork } as unknown as RingStatus;
  const ended = await wait(
    () => held,
    false,
    () => holds(),
  );
  expect(ended).toMatchObject({ left: [1], codes: ['RING_FORK'] });
  expect(ended.seconds).toBeLessThan(5);
  const settled = { ...held, fork: { ...fork, settled: {} } } as unknown as RingStatus;
  const waits = await wait(
    (look) => (look < 20 ? settled : holds()),
    false,
    () => holds(),
  );
  expect(waits).toMatchObject({ left: [], codes: [] });
});
