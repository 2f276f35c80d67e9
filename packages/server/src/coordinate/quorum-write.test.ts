// Which of the devices that take a write may get it a little later.
import { slotsOf } from '@ringwright/ring/slots-of';
import { expect, test } from 'vitest';
import { activeOn, moveVersions, servedRing } from '../../../../test/support/served-ring.ts';
import type { DeviceCaller } from '../peers/device-caller.ts';
import { writeToQuorum } from './quorum-write.ts';

/** Partition 0 is on devices 0, 1, 2; device 3 joins for device 2. */
const first = servedRing({ devices: 4, power: 0 });
const [moving] = moveVersions(first, [{ partition: 0, replica: 2, from: 2, to: 3 }]);

/** The devices that get a write of so many slots, `~` before those that may wait. */
function askedFor(needed: number, holders: readonly number[] = []): string[] {
  const active = activeOn(moving, 0);
  const asked: string[] = [];
  const write: DeviceCaller['write'] = ({ device, mayWait }) => {
    asked.push(mayWait === true ? `~${device}` : `${device}`);
  };
  const record = { partition: 0, key: Buffer.from('key'), value: null, ms: 1, tie: 1 };
  const spread = { active, slots: slotsOf(active.ring, 0), record, needed, holders };
  writeToQuorum({ write } as unknown as DeviceCaller, spread, () => undefined);
  return asked;
}

test('a joiner waits for company where the slots that stay are enough', () => {
  expect(askedFor(2)).toEqual(['0', '1', '2', '~3']);
  expect(askedFor(2, [1])).toEqual(['0', '2', '~3']);
});

test('nobody waits where the slot in flight has to count', () => {
  expect(askedFor(3)).toEqual(['0', '1', '2', '3']);
});
