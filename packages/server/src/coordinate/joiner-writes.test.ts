// Tests which writes to a joiner may wait, to travel with others.
import { slotsOf } from '@ringwright/ring/slots-of';
import { expect, test } from 'vitest';
import { activeOn, moveVersions, servedRing } from '../../../../test/support/served-ring.ts';
import type { DeviceCaller } from '../peers/device-caller.ts';
import { quorumWriteFor } from './quorum-write.ts';

/** Device 3 replaces device 0. Returns the devices of one write: first those that may not wait. */
function devicesOf(task: {
  needed: number;
  replicas?: number;
  exact?: boolean;
  isMoving?: boolean;
}) {
  const { needed, replicas = 3, isMoving = true, exact = false } = task;
  const first = servedRing({ devices: 4, power: 0, replicas });
  const [moving] = moveVersions(first, [{ partition: 0, replica: 0, from: 0, to: 3 }]);
  const active = activeOn(isMoving ? moving : first, 1);
  const [urgent, waiting]: [number[], number[]] = [[], []];
  const write: DeviceCaller['write'] = ({ device, mayWait }) => {
    (mayWait === true ? waiting : urgent).push(device);
  };
  const devices = { write } as unknown as DeviceCaller;
  const record = { partition: 0, key: Buffer.from('key'), value: null, ms: 1, tie: 1 };
  const slots = slotsOf(active.ring, 0);
  quorumWriteFor(devices, { active, slots, record, needed, exact }, () => undefined);
  return [urgent.toSorted((a, b) => a - b), waiting];
}

test('the write to a joiner waits if the other slots are enough for the level', () => {
  expect(devicesOf({ needed: 2 })).toEqual([[0, 1, 2], [3]]);
  expect(devicesOf({ needed: 1 })).toEqual([[0, 1, 2], [3]]);
});

test('the write to a joiner does not wait if its slot is needed', () => {
  expect(devicesOf({ needed: 3 })).toEqual([[0, 1, 2, 3], []]);
  expect(devicesOf({ needed: 1, replicas: 1 })).toEqual([[0, 3], []]);
});

test('the record of a round does not wait, because it ends the promise of the joiner', () => {
  expect(devicesOf({ needed: 2, exact: true })).toEqual([[0, 1, 2, 3], []]);
});

test('no write waits while nothing moves', () => {
  expect(devicesOf({ needed: 2, isMoving: false })).toEqual([[0, 1, 2], []]);
});
