// Tests which servers of a ring are targets of a command, and which of them are required.
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { expect, test } from 'vitest';
import { moveVersions, servedRing } from '../../../test/support/served-ring.ts';
import { countedTargets, removedHolders, ringTargets, withFurther } from './ring-targets.ts';

test('a removed device counts as long as it has slots that no move takes away from it', () => {
  const ring = servedRing({ devices: 4, replicas: 1, power: 1 });
  const devices = ring.devices.map((device) => device && { ...device, state: 'removed' as const });
  const state = { devices } as unknown as BuilderState;
  const [slots = []] = ring.table.map((row) => [...row]);
  const holders = [...new Set(slots)].sort((a, b) => a - b);
  expect(removedHolders(ring, state)).toEqual(holders);
  expect(ringTargets(ring, state).some(({ required }) => required)).toBe(false);
  const counted = countedTargets(ring, state).filter(({ required }) => required);
  expect(counted.flatMap(({ devices: ids }) => ids)).toEqual(holders);
  const [first = 0] = slots;
  const other = ring.devices.findIndex((_, id) => !holders.includes(id));
  const [moving] = moveVersions(ring, [{ partition: 0, replica: 0, from: first, to: other }]);
  expect(removedHolders(moving, state)).toEqual(holders.filter((id) => id !== first));
  expect(removedHolders(ring, null)).toEqual([]);
});

test('a typed server that the ring names is listed once, and is required', () => {
  const named = [
    { address: '10.0.0.1:6200', devices: [0], required: true },
    { address: '10.0.0.2:6200', devices: [1], required: false },
  ];
  expect(withFurther(named, ['10.0.0.2:6200', '10.0.0.9:6200', '10.0.0.9:6200'])).toEqual([
    { address: '10.0.0.1:6200', devices: [0], required: true },
    { address: '10.0.0.2:6200', devices: [1], required: true },
    { address: '10.0.0.9:6200', devices: [], required: true },
  ]);
});
