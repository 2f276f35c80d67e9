// Imports from Swift and exports back: nothing is lost, last moves are respected, and the rest is
// refused.
import { frozenPartitions } from '@ringwright/builder/plan/frozen-partitions';
import { planVersion } from '@ringwright/builder/plan/plan-version';
import { applyChanges } from '@ringwright/builder/state/apply-changes';
import type { ImportedRing } from '@ringwright/builder/state/import-json';
import { parseState, serializeState } from '@ringwright/builder/state/state-json';
import { directRing, proposeMoves } from '@ringwright/ring/advance-ring';
import { auditRing } from '@ringwright/ring/audit/audit-ring';
import { encodeRing } from '@ringwright/ring/file/ring-file';
import type { Ring } from '@ringwright/ring/ring';
import {
  exportSwiftBuilder,
  exportSwiftRing,
  exportUnplacedBuilder,
} from '@ringwright/swift/export-swift';
import { importSwift } from '@ringwright/swift/import-swift';
import { decodeSwiftBuilder } from '@ringwright/swift/swift-builder-file';
import { readSwiftFile } from '@ringwright/swift/swift-file';
import { decodeSwiftRing, encodeSwiftRing } from '@ringwright/swift/swift-ring-file';
import { encodeSwiftBuilder } from '@ringwright/swift/write-swift-builder';
import { describe, expect, test } from 'vitest';
import {
  swiftBuilders,
  swiftFile,
  swiftFixtures,
} from '../../packages/swift/test/support/swift-ring.ts';
import { refusal, resultOrCode } from '../support/refusal.ts';

const settings = { ring: 'objects', cluster: 'default', prefix: '', suffix: 'ab' };

function imported(file: string): ImportedRing & { readonly ring: Ring } {
  const { ring, ...rest } = importSwift(readSwiftFile(swiftFile(file)), settings);
  if (ring === null) throw new Error(`${file} has no table`);
  return { ring, ...rest };
}

describe.each(swiftFixtures())('ring $fixture', ({ fixture }) => {
  test('the ring survives a round trip', () => {
    const { ring, state } = imported(`${fixture}.ring.gz`);
    expect(auditRing(ring)).toEqual([]);
    const given = decodeSwiftRing(swiftFile(`${fixture}.ring.gz`));
    expect(exportSwiftRing(ring, state)).toEqual(given);
    expect(parseState(serializeState(state))).toEqual(state);
  });
});

describe.each(swiftBuilders())('builder $fixture', ({ fixture, nextPartPower }) => {
  const { ring, state, warnings } = imported(`${fixture}.builder`);

  test('the builder survives a round trip', () => {
    const given = decodeSwiftBuilder(swiftFile(`${fixture}.builder`));
    expect(exportSwiftBuilder(ring, state, new Map([[1, 1e9]]))).toEqual(given);
    expect(parseState(serializeState(state))).toEqual(state);
    const codes = warnings.map(({ code }) => code);
    expect(codes).toEqual(nextPartPower === null ? [] : ['PART_POWER_INCREASING']);
  });
});

test('no later version is exported during a partition power increase', () => {
  const { ring, state } = imported('f09_part_power_increase_v2.builder');
  expect(exportSwiftRing(ring, state)).toMatchObject({ partPower: 6, nextPartPower: 6 });
  const second = directRing(ring, encodeRing(ring).id, { table: ring.table });
  expect(resultOrCode(() => exportSwiftRing(second, state))).toBe('PART_POWER_INCREASING');
});

describe('last moves', () => {
  const { ring, state } = imported('f12_min_part_hours_v3.builder');
  const given = decodeSwiftBuilder(swiftFile('f12_min_part_hours_v3.builder'));
  const epochHours = given.lastMovesEpoch / 3_600;

  test.each([0, 3, 23.5, 24, 1_000])('partitions rest as in Swift, %i hours later', (later) => {
    // Swift's rule: hours noted + whole hours since >= min_part_hours.
    const frozen = frozenPartitions(ring, 24, {
      versionHours: new Map([[1, epochHours + later]]),
      nowHours: epochHours + later,
      earlier: state.swift?.lastMoves,
    });
    const wanted = Array.from(given.lastMoves, (hours) => (hours + later < 24 ? 1 : 0));
    expect(Array.from(frozen ?? new Uint8Array(ring.partitions))).toEqual(wanted);
    if (later === 0) expect(new Set(wanted).size).toBe(2);
  });

  test('a plan leaves resting partitions alone', () => {
    const devices = state.devices.map((device) =>
      device?.id === 3 ? { ...device, weight: 300 } : device,
    );
    const plan = planVersion({
      head: ring,
      headId: encodeRing(ring).id,
      state: { ...state, devices },
      versionHours: new Map([[1, epochHours]]),
      nowHours: epochHours,
    });
    expect(plan.moves.length).toBeGreaterThan(0);
    for (const { partition } of plan.moves) {
      expect(given.lastMoves[partition]).toBeGreaterThanOrEqual(24);
    }
  });

  test('later versions are exported in hours before the head', () => {
    const partition = 7;
    const from = ring.table[0]![partition]!;
    const to = ring.devices.findIndex((_, id) => ring.table.every((row) => row[partition] !== id));
    const table = ring.table.map((row, replica) =>
      row.map((id, at) => (replica === 0 && at === partition ? to : id)),
    );
    const second = directRing(ring, encodeRing(ring).id, { table });
    const seconds = new Map(
      [1, 2].map((version) => [version, given.lastMovesEpoch + 7_200 * version]),
    );
    const out = exportSwiftBuilder(second, state, seconds);
    expect(out.version).toBe(given.version + 1);
    expect(out.lastMovesEpoch).toBe(given.lastMovesEpoch + 14_400);
    const wanted = given.lastMoves.map((hours) => Math.min(255, hours + 4));
    wanted[partition] = 0;
    expect(out.lastMoves).toEqual(wanted);
    expect(from).not.toBe(to);
  });
});

describe('refused conversions', () => {
  const good = decodeSwiftRing(swiftFile('f02_holes_v1.ring.gz'));

  test('two replicas on one device are refused', () => {
    const table = good.table.map((row) => row.slice());
    table[1]![5] = table[0]![5]!;
    const file = { kind: 'ring', ring: { ...good, table } } as const;
    expect(() => importSwift(file, settings)).toThrow(/1 times a device holds two replicas/);
    expect(resultOrCode(() => importSwift(file, settings))).toBe('RING_NOT_CONVERTIBLE');
  });

  test('another partitioner and moves in flight are refused', () => {
    const { ring, state } = imported('f02_holes_v1.ring.gz');
    const partitioner = { kind: 'murmur3-mod', partitions: ring.partitions, seed: 0 } as const;
    const other = { ...ring, partitioner };
    expect(resultOrCode(() => exportSwiftRing(other, state))).toBe('RING_NOT_CONVERTIBLE');
    const from = ring.table[0]![3]!;
    const to = ring.devices.findIndex(
      (device, id) => device !== null && ring.table.every((row) => row[3] !== id),
    );
    const moves = [{ partition: 3, replica: 0, from, to }];
    const moving = proposeMoves(ring, encodeRing(ring).id, { moves });
    expect(resultOrCode(() => exportSwiftRing(moving, state))).toBe('MOVES_IN_FLIGHT');
  });

  test('settings beyond the limits are refused', () => {
    const builder = decodeSwiftBuilder(swiftFile('f02_holes_v1.builder'));
    for (const changes of [{ overload: 11 }]) {
      const file = { kind: 'builder', builder: { ...builder, ...changes } } as const;
      expect(resultOrCode(() => importSwift(file, settings))).toBe('VALUE_OUT_OF_RANGE');
    }
  });
});

test('a builder between two rebalances keeps its pending changes', () => {
  const builder = decodeSwiftBuilder(swiftFile('f02_holes_v1.builder'));
  const pending = { ...builder, replicas: 2.5, replicasInt: false, removed: [0], changed: true };
  const { ring, state, warnings } = importSwift({ kind: 'builder', builder: pending }, settings);
  expect(warnings).toMatchObject([
    { code: 'REPLICAS_PENDING', details: { wanted: 2.5, placed: 3 } },
  ]);
  // The replica count pending in Swift stays pending until somebody sets another count here.
  const next = directRing(ring!, encodeRing(ring!).id, { table: ring!.table });
  for (const version of [ring!, next]) {
    const out = exportSwiftBuilder(version, state, new Map());
    expect(out).toMatchObject({ replicas: 2.5, replicasInt: false, changed: true });
    expect(parseState(serializeState(state))).toEqual(state);
  }
  expect(exportSwiftBuilder({ ...next, replicas: 2 }, state, new Map()).replicas).toBe(2);
  expect([ring?.replicas, state.replicas]).toEqual([3, 3]);
  expect(state.devices[0]?.state).toBe('removed');
  const back = exportSwiftBuilder(ring!, state, new Map());
  expect(back).toMatchObject({ removed: [0], changed: true });

  const fresh = importSwift({ kind: 'builder', builder: { ...builder, table: null } }, settings);
  expect(fresh.ring).toBeNull();
  expect(fresh.state.devices).toHaveLength(builder.devices.length);
});

test('device settings that Swift does not have are not exported', () => {
  const builder = decodeSwiftBuilder(swiftFile('f12_min_part_hours_v3.builder'));
  const { state } = importSwift(
    { kind: 'builder', builder: { ...builder, table: null } },
    settings,
  );
  const id = state.devices.length;
  const replaced = applyChanges(state, [
    { kind: 'hold', id: 1, hold: 'no-target' },
    { kind: 'add', device: { ...builder.devices[0]!, id, ip: '10.9.9.9' }, replaces: 0 },
  ]);
  const out = exportUnplacedBuilder(replaced);
  expect(out.removed).toEqual([0]);
  expect(out.devices.slice(0, 2)).toEqual([
    { ...builder.devices[0], weight: 0 },
    builder.devices[1],
  ]);
  expect(decodeSwiftBuilder(encodeSwiftBuilder(out)).devices).toEqual(out.devices);
});

test('ids keep their width', () => {
  const ring = { ...decodeSwiftRing(swiftFile('f02_holes_v1.ring.gz')), idBytes: 4 } as const;
  const file = decodeSwiftRing(encodeSwiftRing(ring, 2));
  expect(file).toMatchObject({ idBytes: 4 });
  const { state, ring: here } = importSwift({ kind: 'ring', ring: file }, settings);
  expect(parseState(serializeState(state))).toEqual(state);
  const back = exportSwiftRing(here!, state);
  expect(back).toEqual(file);
  expect(encodeSwiftRing(back, 2)).toEqual(encodeSwiftRing(ring, 2));
  const builder = decodeSwiftBuilder(swiftFile('f02_holes_v1.builder'));
  const wide = decodeSwiftBuilder(encodeSwiftBuilder({ ...builder, idBytes: 4 }));
  expect(wide).toEqual({ ...builder, idBytes: 4 });
});

test('more hours than Swift counts are reported, and exported unchanged', () => {
  const builder = decodeSwiftBuilder(swiftFile('f02_holes_v1.builder'));
  for (const [minPartHours, codes] of [
    [255, []],
    [256, ['MIN_PART_HOURS_UNCOUNTED']],
    [100_000, ['MIN_PART_HOURS_UNCOUNTED']],
  ] as const) {
    const file = { kind: 'builder', builder: { ...builder, minPartHours } } as const;
    const { ring, state, warnings } = importSwift(file, settings);
    expect(warnings.map(({ code }) => code)).toEqual(codes);
    expect(state.minPartHours).toBe(Math.min(minPartHours, 8_760));
    expect(exportSwiftBuilder(ring!, state, new Map()).minPartHours).toBe(minPartHours);
    const changed = { ...state, minPartHours: 7 };
    expect(exportSwiftBuilder(ring!, changed, new Map()).minPartHours).toBe(7);
  }
});

test.each([
  ['ends with a space', { device: ' sdb' }, /device 0: device: .* ends with a space/],
  ['a bell', { device: 'a\u0007' }, /device 0: device: .* control character/],
  ['long meta', { meta: 'm'.repeat(9_000) }, /device 0: meta: has more than 8192 characters/],
  ['a huge weight', { weight: 1e17 }, /device 0: weight: expected at most 9007199254740992/],
  ['no address', { ip: '10.0.0.256' }, /device 0: ip: is neither/],
])('%s is refused by its own message, not as damage', (_what, fields, message) => {
  const ring = decodeSwiftRing(swiftFile('f01_smallest_v1.ring.gz'));
  const devices = ring.devices.map((one) => (one === null ? null : { ...one, ...fields }));
  const refused = refusal(() => decodeSwiftRing(encodeSwiftRing({ ...ring, devices }, 1)));
  expect(refused.message).toMatch(message);
  expect(refused.hint).toMatch(/the file is complete/);
});

test('an import without salts is reported', () => {
  const file = readSwiftFile(swiftFile('f01_smallest_v1.builder'));
  const { warnings } = importSwift(file, { ...settings, suffix: '' });
  expect(warnings.map(({ code }) => code)).toEqual(['HASH_SALT_MISSING']);
});
