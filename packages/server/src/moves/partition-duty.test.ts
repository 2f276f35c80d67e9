// The duty document of a partition during a move, at each of its devices.
import type { Store } from '@ringwright/partition/store';
import { expect, test } from 'vitest';
import { activeOn, moveVersions, servedRing } from '../../../../test/support/served-ring.ts';
import { type LoadProgress, startedLoad } from './load-notes.ts';
import { partitionDuty } from './partition-duty.ts';

const store = { info: () => null } as unknown as Store;
const waiting = new Map<number, string>();
const loads: LoadProgress[] = [];
const ports = { store, reconciler: { draining: () => waiting, progress: () => loads } };
const first = servedRing();
const [proposed, initializing, finalized] = moveVersions(first, [
  { partition: 0, replica: 0, from: 0, to: 3 },
]);

test('a joiner loads until the table names it; the device it replaces then unloads', () => {
  for (const [ring, state] of [
    [proposed, 'PROPOSED'],
    [initializing, 'INITIALIZING'],
  ] as const) {
    const { here, devices, minVersion } = partitionDuty(ports, activeOn(ring, 3), '0');
    expect(here).toMatchObject({ device: 3, duty: 'LOAD', pushTo: [0, 1, 2], file: null });
    expect(here?.move).toMatchObject({ state, from: 0, to: 3, assignment: 1 });
    expect(devices.map(({ device, duty }) => `${device} ${duty}`)).toEqual([
      ...['0 SERVE', '1 SERVE', '2 SERVE', '3 LOAD'],
    ]);
    expect(minVersion).toBe(proposed.version);
  }
  const left = partitionDuty(ports, activeOn(finalized, 0), '0');
  expect(left).toMatchObject({ minVersion: 4, here: { duty: 'UNLOAD', pushTo: [3, 1, 2] } });
  expect(left.devices.map(({ device }) => device)).toEqual([3, 1, 2]);
});

test('a device that the ring does not name lists the duties of the others', () => {
  const { here, devices } = partitionDuty(ports, { ...activeOn(first, 0), self: null }, '1');
  expect(here).toBeNull();
  expect(devices).toHaveLength(3);
});

test.each(['', '4', '-1', '1.0', '01x', ' 1', '1e0'])('partition %j is refused', (word) => {
  expect(() => partitionDuty(ports, activeOn(first, 0), word)).toThrow(
    expect.objectContaining({ code: 'VALUE_OUT_OF_RANGE' }),
  );
});

test('the document says what this device waits for', () => {
  const waits = () => partitionDuty(ports, activeOn(initializing, 3), '0').here?.waits;
  expect(waits()).toBeNull();
  const about = { keyspace: 'cities', partition: 0, assignment: 1 };
  loads.push({ ...startedLoad(about), reason: '6 loads run here, the maximum' });
  expect(waits()).toBe('queued: 6 loads run here, the maximum');
  loads[0] = { ...startedLoad(about), stage: 'available' };
  expect(waits()).toBeNull();
  waiting.set(0, 'held: 9 of 20 files would be dropped without a move');
  expect(waits()).toContain('held');
});
