// Tests the audit with each invariant broken once: its code is found, and no other code where
// nothing else is broken.
import { seededRandom } from '@ringwright/base/random';
import { expect, test } from 'vitest';
import { nonHolderOf, sampleDevice, sampleRing } from '../../test/support/sample-ring.ts';
import { proposeMoves, reshapeRing } from '../advance-ring.ts';
import { encodeRing } from '../file/ring-file.ts';
import type { Move } from '../move.ts';
import type { IntervalPartitioner } from '../partitioner/partitioner.ts';
import { splitInterval } from '../partitioner/reshape.ts';
import type { Ring, SlotRow } from '../ring.ts';
import { copyTable, deviceOf } from '../slot-rows.ts';
import { auditCodes, auditRing } from './audit-ring.ts';

const first = sampleRing({ power: 3, replicas: 3, devices: 7, holes: [5] });
const wanted = [1, 4].map((partition) => ({
  partition,
  replica: 1,
  from: deviceOf(first.table, 1, partition),
  to: nonHolderOf(first, partition),
}));
const good = proposeMoves(first, encodeRing(first).id, { moves: wanted });
const [moveA, moveB] = good.moves as [Move, Move];

function withSlot(partition: number, replica: number, device: number): Ring {
  const table: SlotRow[] = copyTable(good.table, good.devices.length);
  const row = table[replica];
  if (row !== undefined) row[partition] = device;
  return { ...good, table };
}

function withDevice(id: number, change: object): Ring {
  const device = { ...sampleDevice(id), ...change };
  return { ...good, devices: good.devices.map((one, index) => (index === id ? device : one)) };
}

const withMove = (change: Partial<Move>): Ring => ({
  ...good,
  moves: [{ ...moveA, ...change }, moveB],
});
const ranges = { kind: 'ranges', partitions: 10, starts: ['m'] } as const;
const ranged: Ring = {
  ...first,
  partitioner: { kind: 'ranges', partitions: 8, starts: ['b', 'c', 'd', 'e', 'f', 'g', 'h'] },
};
const split = reshapeRing(ranged, encodeRing(ranged).id, {
  partitioner: splitInterval(ranged.partitioner as IntervalPartitioner, 3, ['dd']),
});
const md5 = { kind: 'md5-shift', power: 3, prefix: '', suffix: '' } as const;

const faults: [string, Ring, RegExp][] = [
  ['RING_NAME_INVALID', { ...good, keyspace: 'Cities' }, /"Cities"/],
  ['RING_CLUSTER_INVALID', { ...good, cluster: '' }, /0 characters/],
  ['RING_VERSION_INVALID', { ...good, version: 2.5 }, /2\.5/],
  ['RING_PARENT_WRONG', { ...good, parent: null }, /version 2 has parent none/],
  ['RING_PARENT_WRONG', { ...first, parent: good.parent }, /version 1 has parent .*expected none/],
  ['RING_PARTITIONER_INVALID', { ...good, partitioner: { ...md5, prefix: 'a' } }, /prefix "a"/],
  ['RING_PARTITIONS_WRONG', { ...good, partitioner: { ...md5, power: 4 } }, /8 partitions, .* 16/],
  [
    'RING_RESHAPE_INVALID',
    { ...split, reshape: { kind: 'to', partitioner: ranges } },
    /"intervals":2,.* cannot follow/,
  ],
  ['MOVE_CHILD_WRONG', { ...split, moves: split.moves.slice(1) }, /no move brings slot \(8, 0\)/],
  ['RING_REPLICAS_INVALID', { ...good, replicas: 33 }, /33 replicas/],
  ['ROW_LENGTHS_WRONG', { ...good, replicas: 2.5 }, /8, 8, 8 slots, expected 8, 8, 4/],
  [
    'MIN_VERSIONS_LENGTH_WRONG',
    { ...good, minVersions: new Uint32Array(7) },
    /7 minVersions for 8/,
  ],
  [
    'RING_REPLICAS_EXCEED_DEVICES',
    { ...good, devices: good.devices.slice(0, 2) },
    /3 replicas on 2 devices/,
  ],
  ['NEXT_ASSIGNMENT_INVALID', { ...good, nextAssignment: 0 }, /is 0/],
  [
    'DEVICES_TOO_MANY',
    { ...good, devices: [...good.devices, ...Array<null>(100_000).fill(null)] },
    /100007 devices/,
  ],
  ['DEVICE_ID_NOT_INDEX', withDevice(2, { id: 3 }), /has id 3 at index 2/],
  ['DEVICE_FIELDS_INVALID', withDevice(2, { port: 0 }), /device 2 has an invalid port/],
  [
    'DEVICE_FIELDS_INVALID',
    withDevice(2, { weight: Number.NaN }),
    /device 2 has an invalid weight/,
  ],
  [
    'DEVICE_ADDRESS_TWICE',
    withDevice(2, { ...sampleDevice(0), id: 2 }),
    /devices 0 and 2 are both/,
  ],
  ['SLOT_DEVICE_UNKNOWN', withSlot(7, 2, 5), /slot \(7, 2\) names device 5, which is a hole/],
  ['SLOT_DEVICE_UNKNOWN', withSlot(7, 2, 7), /device 7, which is not among 7 devices/],
  [
    'PARTITION_DEVICE_TWICE',
    withSlot(7, 2, deviceOf(good.table, 0, 7)),
    /partition 7 has two slots on device/,
  ],
  [
    'MIN_VERSION_INVALID',
    { ...good, minVersions: new Uint32Array(8) },
    /minVersion 0 in version 2/,
  ],
  ['MIN_VERSION_INVALID', { ...good, minVersions: new Uint32Array(8).fill(3) }, /minVersion 3 in/],
  [
    'MOVES_TOO_MANY',
    { ...good, moves: Array<Move>(65_537).fill(moveA) },
    /65537 moves in flight, at most 65536/,
  ],
  ['MOVES_NOT_SORTED', { ...good, moves: [moveB, moveA] }, /assignment 1 comes after assignment 2/],
  [
    'MOVE_SLOT_TWICE',
    { ...good, moves: [moveA, { ...moveA, to: nonHolderOf(good, 1), assignment: 2 }] },
    /share a slot/,
  ],
  ['MOVE_SLOT_UNKNOWN', withMove({ replica: 3 }), /slot \(1, 3\), which is not in the table/],
  ['MOVE_SLOT_NOT_NEXT', withMove({ from: null }), /new slot \(1, 1\), which is not one of the 1/],
  ['MOVE_FROM_WRONG', withMove({ from: moveA.to }), /but slot \(1, 1\) is on device/],
  ['MOVE_TO_UNKNOWN', withMove({ to: 5 }), /joins device 5, which is not in the ring/],
  [
    'MOVE_TO_HOLDS_PARTITION',
    withMove({ to: deviceOf(good.table, 0, 1) }),
    /which already holds partition 1/,
  ],
  [
    'MOVE_TO_HOLDS_PARTITION',
    {
      ...good,
      moves: [moveA, { ...moveA, replica: 2, from: deviceOf(good.table, 2, 1), assignment: 2 }],
    },
    /assignment 1 and assignment 2 join device/,
  ],
  ['MOVE_STATE_INVALID', withMove({ state: 'AVAILABLE' as never }), /is AVAILABLE, not/],
  [
    'MOVE_ASSIGNMENT_TWICE',
    withMove({ assignment: 2 }),
    /\(1, 1\) and \(4, 1\) share assignment 2/,
  ],
  ['MOVE_ASSIGNMENT_NOT_ISSUED', withMove({ assignment: 3 }), /next to be issued is 3/],
];

test('the audit finds nothing in sound rings', () => {
  expect([auditRing(first), auditRing(good)]).toEqual([[], []]);
});

test.each(faults)('the audit finds %s', (code, ring, message) => {
  const findings = auditRing(ring);
  expect(findings.map((finding) => finding.code)).toContain(code);
  expect(findings.find((finding) => finding.code === code)?.message).toMatch(message);
  if (code === 'MOVES_TOO_MANY' || code === 'RING_REPLICAS_EXCEED_DEVICES') return;
  expect(new Set(findings.map((finding) => finding.code)), 'the audit finds nothing else').toEqual(
    new Set([code]),
  );
});

test('every code of the audit is tested', () => {
  expect(new Set(faults.map(([code]) => code))).toEqual(new Set(auditCodes));
});

test('many broken slots do not hide other findings', () => {
  const ring = { ...good, table: copyTable(good.table, 7).map((row) => row.fill(6)) };
  const findings = auditRing({ ...ring, minVersions: new Uint32Array(8) });
  const codes = new Set(findings.map(({ code }) => code));
  expect(codes).toContain('MIN_VERSION_INVALID');
  expect(findings.length).toBeLessThan(60);
});

test.each([11, 12, 13])('one wrong slot in a large ring is found (seed %i)', (seed) => {
  const large = sampleRing({ power: 14, replicas: 3, devices: 100 });
  const random = seededRandom(seed);
  for (let round = 0; round < 20; round += 1) {
    const [partition, replica] = [random.below(2 ** 14), random.below(3)];
    const table = copyTable(large.table, 100);
    const row = table[replica];
    if (row === undefined) continue;
    row[partition] = deviceOf(large.table, (replica + 1) % 3, partition);
    const [finding, ...more] = auditRing({ ...large, table });
    expect(finding?.code).toBe('PARTITION_DEVICE_TWICE');
    expect(finding?.message, `seed ${seed}`).toContain(`partition ${partition} `);
    expect(more).toEqual([]);
  }
});
