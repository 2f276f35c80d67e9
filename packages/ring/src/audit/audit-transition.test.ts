// Tests each rule of succession broken once. Legal steps are tested in advance-ring.test.ts.
import { expect, test } from 'vitest';
import { idOf, nonHolderOf, sampleDevice, sampleRing } from '../../test/support/sample-ring.ts';
import {
  ancestorsAfter,
  cancelMoves,
  finalizeMoves,
  initializeMoves,
  proposeMoves,
  reshapeRing,
} from '../advance-ring.ts';
import type { Move } from '../move.ts';
import { splitInterval } from '../partitioner/reshape.ts';
import type { Ring, SlotRow } from '../ring.ts';
import { copyTable, deviceOf } from '../slot-rows.ts';
import { auditRing } from './audit-ring.ts';
import { auditTransition, transitionCodes } from './audit-transition.ts';

const first = sampleRing({ power: 3, replicas: 3, devices: 7, holes: [5] });
const wanted = {
  partition: 2,
  replica: 1,
  from: deviceOf(first.table, 1, 2),
  to: nonHolderOf(first, 2),
};
const proposed = proposeMoves(first, idOf(first), { moves: [wanted] });
const initializing = initializeMoves(proposed, idOf(proposed));
const finalized = finalizeMoves(initializing, idOf(initializing));
const ended = finalizeMoves(finalized, idOf(finalized));
const move = proposed.moves[0] as Move;

const ranges = { kind: 'ranges', partitions: 2, starts: ['m'] } as const;
const whole: Ring = { ...sampleRing({ power: 1, replicas: 3, devices: 5 }), partitioner: ranges };
const splitAt = (ring: Ring, key: string): Ring =>
  reshapeRing(ring, idOf(ring), { partitioner: splitInterval(ranges, 0, [key]) });
const splitting = splitAt(whole, 'c');
const filling = initializeMoves(splitting, idOf(splitting));
const splitIds = new Set(splitting.moves.map(({ assignment }) => assignment));
const cancelled = cancelMoves(splitting, idOf(splitting), splitIds);

function withSlot(ring: Ring, partition: number, device: number): Ring {
  const table: SlotRow[] = copyTable(ring.table, ring.devices.length);
  const row = table[1];
  if (row !== undefined) row[partition] = device;
  const minVersions = ring.minVersions.slice();
  minVersions[partition] = ring.version;
  return { ...ring, table, minVersions };
}

const raised = (ring: Ring, partition: number, version: number): Ring => {
  const minVersions = ring.minVersions.slice();
  minVersions[partition] = version;
  return { ...ring, minVersions };
};

const faults: [string, Ring, Ring, RegExp][] = [
  ['NEXT_OF_ANOTHER_RING', first, { ...proposed, keyspace: 'roads' }, /keyspace was "cities"/],
  ['NEXT_OF_ANOTHER_RING', first, { ...proposed, cluster: 'other' }, /cluster was "test"/],
  ['NEXT_OF_ANOTHER_RING', first, { ...proposed, partitions: 16 }, /partitions was 8/],
  [
    'NEXT_OF_ANOTHER_RING',
    first,
    { ...proposed, partitioner: { kind: 'murmur3-mod', partitions: 8, seed: 0 } },
    /partitioner was/,
  ],
  ['NEXT_VERSION_WRONG', first, { ...proposed, version: 3 }, /version 3 cannot follow version 1/],
  ['NEXT_VERSION_WRONG', first, first, /version 1 cannot follow version 1/],
  ['NEXT_PARENT_WRONG', first, { ...proposed, parent: 'f'.repeat(64) }, /has parent ffff/],
  [
    'NEXT_ANCESTORS_WRONG',
    proposed,
    { ...initializing, ancestors: ['f'.repeat(64)] },
    /\[ffff.*expected \[/,
  ],
  ['NEXT_ANCESTORS_WRONG', proposed, { ...initializing, ancestors: [] }, /are \[\], expected \[/],
  [
    'NEXT_DEVICE_ID_REUSED',
    first,
    { ...proposed, devices: proposed.devices.map((one, id) => one ?? sampleDevice(id)) },
    /device id 5 left the ring/,
  ],
  [
    'NEXT_DEVICE_ID_REUSED',
    first,
    { ...proposed, devices: first.devices.slice(0, 6) },
    /6 device ids/,
  ],
  [
    'NEXT_RESHAPE_CHANGED',
    splitting,
    { ...filling, reshape: { kind: 'to', partitioner: splitInterval(ranges, 0, ['d']) } },
    /change while their children are filled/,
  ],
  [
    'NEXT_RESHAPE_CHANGED',
    whole,
    {
      ...proposeMoves(whole, idOf(whole), { moves: [] }),
      reshape: { kind: 'from', partitioner: ranges },
    },
    /no split or merge ends/,
  ],
  ['NEXT_PARTITION_REUSED', cancelled, splitAt(cancelled, 'd'), /partition id 2 .* used again/],
  ['NEXT_ASSIGNMENT_REUSED', initializing, { ...finalized, nextAssignment: 1 }, /fell from 2 to 1/],
  [
    'NEXT_ASSIGNMENT_REUSED',
    finalized,
    raised({ ...ended, moves: [{ ...move, partition: 7 }] }, 7, ended.version),
    /assignment 1 was issued before/,
  ],
  [
    'NEXT_MOVE_CHANGED',
    proposed,
    {
      ...initializing,
      moves: initializing.moves.map((one) => ({ ...one, to: nonHolderOf(proposed, 2) })),
    },
    /assignment 1 was \(2, 1\)/,
  ],
  [
    'NEXT_MOVE_SKIPPED_STATE',
    first,
    { ...proposed, moves: [{ ...move, state: 'INITIALIZING' }] },
    /starts INITIALIZING/,
  ],
  [
    'NEXT_MOVE_SKIPPED_STATE',
    initializing,
    {
      ...initializing,
      ...{ version: 4, parent: idOf(initializing), ...ancestorsAfter(initializing) },
      moves: proposed.moves,
    },
    /goes back/,
  ],
  [
    'NEXT_MOVE_SKIPPED_STATE',
    proposed,
    withSlot({ ...initializing, moves: [] }, 2, move.to),
    /finalized while PROPOSED/,
  ],
  [
    'NEXT_SLOT_WITHOUT_MOVE',
    proposed,
    withSlot(initializing, 6, nonHolderOf(first, 6)),
    /slot \(6, 1\) changes from device .* without a move/,
  ],
  ['NEXT_MIN_VERSION_WRONG', first, raised(proposed, 2, 1), /partition 2 changed: minVersion 1/],
  [
    'NEXT_MIN_VERSION_WRONG',
    first,
    raised(proposed, 0, 2),
    /partition 0 did not change: minVersion 2/,
  ],
  ['NEXT_MIN_VERSION_WRONG', proposed, raised(initializing, 2, 1), /did not change: minVersion 1/],
];

test.each(faults)('the audit finds %s', (...[code, previous, next, message]) => {
  const findings = auditTransition({ previous, previousId: idOf(previous), next });
  expect(findings.map((finding) => finding.code)).toContain(code);
  expect(
    findings
      .filter((one) => one.code === code)
      .map((one) => one.message)
      .join(),
  ).toMatch(message);
});

test('the audit of the ring alone does not find wrong steps of a split', () => {
  for (const [code, , next] of faults) {
    if (code === 'NEXT_RESHAPE_CHANGED' || code === 'NEXT_PARTITION_REUSED')
      expect(auditRing(next)).toEqual([]);
  }
});

test('a version of a program that names no ancestors may follow', () => {
  const { ancestors, ...next } = initializing;
  expect(ancestors).toEqual([proposed.parent]);
  expect(auditTransition({ previous: proposed, previousId: idOf(proposed), next })).toEqual([]);
});

test('every code of the audit of transitions is tested', () => {
  expect(new Set(faults.map(([code]) => code))).toEqual(new Set(transitionCodes));
});
