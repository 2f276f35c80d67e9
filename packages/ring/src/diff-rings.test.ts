// Tests the differences between two versions: devices, settings, slots, moves, and the sums per
// pair of devices.
import { expect, test } from 'vitest';
import { nonHolderOf, sampleDevice, sampleRing } from '../test/support/sample-ring.ts';
import { directRing, initializeMoves, proposeMoves } from './advance-ring.ts';
import { diffRings } from './diff-rings.ts';
import { encodeRing } from './file/ring-file.ts';
import { copyTable, deviceOf } from './slot-rows.ts';

const first = sampleRing({ power: 3, replicas: 3, devices: 7, holes: [5] });
const id = encodeRing(first).id;

test('a ring does not differ from itself', () => {
  expect(diffRings(first, first)).toEqual({
    devicesAdded: [],
    devicesRemoved: [],
    devicesChanged: [],
    settings: [],
    moved: [],
    slotsAdded: 0,
    slotsRemoved: 0,
    pairs: [],
    movesStarted: 0,
    movesEnded: 0,
  });
});

test('added, removed and changed devices are listed', () => {
  const changed = { ...sampleDevice(2), weight: 0, zone: 9 };
  const devices = [...first.devices, sampleDevice(7)].map((device, at) =>
    at === 2 ? changed : at === 6 ? null : device,
  );
  const diff = diffRings(first, { ...first, devices });
  expect(diff.devicesAdded.map((device) => device.id)).toEqual([7]);
  expect(diff.devicesRemoved.map((device) => device.id)).toEqual([6]);
  expect(diff.devicesChanged).toEqual([
    { id: 2, before: sampleDevice(2), after: changed, fields: ['zone', 'weight'] },
  ]);
});

test('moved slots are listed, and counted per pair of devices', () => {
  const table = copyTable(first.table, 7);
  const to = nonHolderOf(first, 1);
  const from = deviceOf(table, 2, 1);
  const row = table[2];
  if (row !== undefined) row[1] = to;
  const diff = diffRings(first, directRing(first, id, { table }));
  expect(diff.moved).toEqual([{ partition: 1, replica: 2, from, to }]);
  expect(diff.pairs).toEqual([{ from, to, slots: 1 }]);
});

test('the sum over all pairs of devices equals the number of moved slots', () => {
  const table = copyTable(first.table, 7).reverse();
  const { moved, pairs } = diffRings(first, { ...first, table });
  const sum = (numbers: number[]): number => numbers.reduce((total, one) => total + one, 0);
  expect(sum(pairs.map(({ slots }) => slots))).toBe(moved.length);
  expect(moved.map(({ partition }) => partition)).toEqual(
    moved.map(({ partition }) => partition).toSorted((a, b) => a - b),
  );
});

test('moves that start and end are counted, and a change of state is neither', () => {
  const move = {
    partition: 0,
    replica: 0,
    from: deviceOf(first.table, 0, 0),
    to: nonHolderOf(first, 0),
  };
  const proposed = proposeMoves(first, id, { moves: [move] });
  expect(diffRings(first, proposed)).toMatchObject({ movesStarted: 1, movesEnded: 0, moved: [] });
  expect(diffRings(proposed, first)).toMatchObject({ movesStarted: 0, movesEnded: 1 });
  const initializing = initializeMoves(proposed, encodeRing(proposed).id);
  expect(diffRings(proposed, initializing)).toMatchObject({ movesStarted: 0, movesEnded: 0 });
});

test('changed settings are listed, and slots that only one ring has are counted', () => {
  const fewer = sampleRing({ power: 3, replicas: 2.5, devices: 7, holes: [5] });
  const diff = diffRings(first, { ...fewer, cluster: 'other' });
  expect(diff.settings).toEqual([
    { name: 'cluster', before: 'test', after: 'other' },
    { name: 'replicas', before: 3, after: 2.5 },
  ]);
  expect(diff).toMatchObject({ slotsAdded: 0, slotsRemoved: 4, moved: [] });
  const wider = sampleRing({ power: 4, replicas: 3, devices: 7, holes: [5] });
  expect(diffRings(first, wider).settings.map(({ name }) => name)).toEqual([
    'partitioner',
    'partitions',
  ]);
  expect(diffRings(first, wider).moved, 'the tables are not comparable').toEqual([]);
});
