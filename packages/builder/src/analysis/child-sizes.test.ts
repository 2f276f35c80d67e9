// The estimated bytes that the children of a split or merge need besides those of their parents.
import { diskReserveBytes } from '@ringwright/base/limits-store';
import { reshapeRing } from '@ringwright/ring/advance-ring';
import { firstRing } from '@ringwright/ring/first-ring';
import { timesIntervals } from '@ringwright/ring/partitioner/partition-power';
import type { HashIntervalsPartitioner } from '@ringwright/ring/partitioner/partitioner';
import { expect, test } from 'vitest';
import type { BuilderState } from '../state/builder-state.ts';
import { planTraffic, withChildren } from './plan-traffic.ts';

const before: HashIntervalsPartitioner = { kind: 'hash-intervals', hash: 'md5', partitions: 2 };
const bytes = [60, 40];

test.each([4, 1 / 2])('a factor of %s makes each device write its data once more', (factor) => {
  const device = (id: number) => ({ ...place, id, device: `d${id}` });
  const place = { region: 1, zone: 1, ip: '127.0.0.1', port: 1, weight: 1, meta: '' };
  const head = firstRing({
    ...{ keyspace: 'cities', cluster: 'test', partitioner: before, partitions: 2, replicas: 2 },
    devices: [device(0), device(1)],
    table: [new Uint16Array([0, 1]), new Uint16Array([1, 0])],
  });
  const partitioner = timesIntervals(before, factor)!;
  const { moves } = reshapeRing(head, '0'.repeat(64), { partitioner });
  const state = { partitioner } as unknown as BuilderState;
  const known = (free: number) => ({
    partitionBytes: (id: number) => bytes[id] ?? null,
    deviceBytes: () => ({ bytes: 100, free, total: null }),
    heldBytes: () => 0,
    isAway: () => false,
  });
  const at = (free: number) => planTraffic(moves, withChildren(known(free), head, state))?.devices;
  const each = { bytesIn: 100, bytesOut: 0, peakBytes: 200 };
  expect(at(100 + diskReserveBytes)).toMatchObject(Array(2).fill({ ...each, fits: true }));
  expect(at(99 + diskReserveBytes)).toMatchObject(Array(2).fill({ ...each, fits: false }));
});
