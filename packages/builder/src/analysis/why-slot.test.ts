// The rule of a slot on a device in maintenance, and on one whose weight is too small for a share.
import { expect, test } from 'vitest';
import { nextRing } from '../plan/next-ring.ts';
import { planVersion } from '../plan/plan-version.ts';
import { applyChanges } from '../state/apply-changes.ts';
import type { BuilderState } from '../state/builder-state.ts';
import type { Change } from '../state/change.ts';
import { createState } from '../state/create-state.ts';
import { whySlots } from './why-slot.ts';

function addition(id: number, weight: number): Change {
  const place = { region: 1, zone: 1, ip: `10.0.1.${id}`, port: 6200, device: 'sda' };
  return { kind: 'add', device: { id, ...place, weight, meta: '' } };
}

function fourDevices(): BuilderState {
  const partitioner = { kind: 'murmur3-mod', partitions: 8, seed: 0 } as const;
  const settings = { ring: 'held', cluster: 'test', replicas: 1, minPartHours: 0, overload: 0 };
  const weights = [1, 1, 1, 1];
  return applyChanges(
    createState({ ...settings, partitioner }),
    weights.map((weight, id) => addition(id, weight)),
  );
}

test.each([
  { change: { kind: 'hold', id: 0, hold: 'maintenance' }, rule: 'held' },
  { change: { kind: 'set-weight', id: 0, weight: 1e-9 }, rule: 'share' },
  { change: { kind: 'set-weight', id: 0, weight: 0 }, rule: 'drained' },
] as const)('$change.kind leads to the rule $rule', ({ change, rule }) => {
  const before = fourDevices();
  const from = { head: null, headId: null, state: before };
  const ring = nextRing(planVersion(from), from);
  const partition = ring.table[0]!.indexOf(0);
  const state = applyChanges(before, [change, addition(4, 1)]);
  expect(whySlots(ring, state, partition).map((slot) => slot.rule)).toEqual([rule]);
});
