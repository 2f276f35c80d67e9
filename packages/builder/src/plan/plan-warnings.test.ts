// Warnings are correct sentences, and name what a plan does not keep.
import { expect, test } from 'vitest';
import { applyChanges } from '../state/apply-changes.ts';
import type { Change } from '../state/change.ts';
import { createState } from '../state/create-state.ts';
import { nextRing } from './next-ring.ts';
import { planVersion } from './plan-version.ts';
import { leftForLater } from './plan-warnings.ts';

test.each([
  [1, '1 move in this version, 1 is left for later versions'],
  [2, '2 moves in this version, 2 are left for later versions'],
])('the warning about %i moves now and later is a correct sentence', (count, message) => {
  const moves = Array.from({ length: count }, (_, partition) => {
    return { partition, replica: 0, from: 0, to: 1 };
  });
  expect(leftForLater({ moves, movesLeft: count })).toMatchObject([{ message }]);
});

test.each<{ why: string; changes: Change[]; zonesOf: number }>([
  {
    why: 'pins',
    changes: [{ kind: 'pin', pin: { partition: 1, on: [0, 1], off: [] } }],
    zonesOf: 1,
  },
  {
    why: 'maintenance',
    changes: [
      { kind: 'hold', id: 4, hold: 'maintenance' },
      { kind: 'remove', id: 5 },
    ],
    zonesOf: 8,
  },
])('a plan names the partitions that $why leaves in too few zones', ({ changes, zonesOf }) => {
  const partitioner = { kind: 'murmur3-mod', partitions: 16, seed: 0 } as const;
  const settings = { ring: 'rules', cluster: 'test', replicas: 3, minPartHours: 0, overload: 0 };
  const state = applyChanges(createState({ ...settings, partitioner }), [
    ...[0, 1, 2, 3, 4, 5].map((id): Change => {
      const place = { region: 1, zone: Math.floor(id / 2), ip: `10.0.0.${id}`, port: 6200 };
      return { kind: 'add', device: { id, ...place, device: 'sdb', weight: 1, meta: '' } };
    }),
    { kind: 'set', settings: { zonesMin: 3 } },
  ]);
  const first = { head: null, headId: null, state };
  const plan = planVersion(first);
  expect(plan.warnings).toEqual([]);
  const head = nextRing(plan, first);
  const after = applyChanges(state, changes);
  const from = { head, headId: 'd'.repeat(64), state: after, direct: true };
  const next = planVersion(from);
  const { table } = nextRing(next, from);
  const zones = Array.from({ length: 16 }, (_, partition) => {
    return new Set(table.map((row) => after.devices[row[partition] ?? 0]?.zone)).size;
  });
  const partitions = [...zones.keys()].filter((partition) => (zones[partition] ?? 0) < 3);
  expect(partitions).toHaveLength(zonesOf);
  const found = next.warnings.find(({ code }) => code === 'ZONES_UNMET');
  expect(found?.details).toEqual({ partitions, zonesMin: 3 });
});
