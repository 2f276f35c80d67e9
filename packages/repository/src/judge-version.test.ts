// The change guard judges all waves of a change together.

import { nextRing } from '@ringwright/builder/plan/next-ring';
import type { Plan } from '@ringwright/builder/plan/plan';
import { planVersion } from '@ringwright/builder/plan/plan-version';
import { applyChanges } from '@ringwright/builder/state/apply-changes';
import type { Change } from '@ringwright/builder/state/change';
import type { Ring } from '@ringwright/ring/ring';
import { expect, test } from 'vitest';
import { equalDevices } from '../../../test/support/pinned-cluster.ts';
import type { LogEntry } from './folder/log-entry.ts';
import { type ChangeGuard, changeGuardOf } from './judge-version.ts';

const ID = 'a'.repeat(64);
const NOW_HOURS = 1_000;
const pushed: LogEntry = {
  ...{ previous: null, time: '2026-11-21T03:00:00.000Z', user: 'ada', message: '', kind: 'push' },
  ...{ version: 1, id: ID, parent: null, commands: [], moves: 0, figures: {}, details: {} },
};

interface Judged {
  readonly plan: Plan;
  readonly guard: ChangeGuard | null;
}

/** Judges new weights of 12 devices with 256 partitions, which last moved `hoursAgo` hours ago. */
function judged(
  minPartHours: number,
  hoursAgo: (partition: number) => number,
  weights: readonly number[],
): Judged {
  const shape = { partitions: 256, replicas: 3, zones: [4, 4, 4] };
  const base = { ...equalDevices(shape), minPartHours };
  const first = planVersion({ head: null, headId: null, state: base });
  const made = nextRing(first, { head: null, headId: null, state: base, direct: true });
  const ages = Array.from(made.minVersions, (_, partition) => hoursAgo(partition));
  const versions = [...new Set(ages)];
  const head: Ring = {
    ...{ ...made, version: 40, parent: ID },
    minVersions: made.minVersions.map((_, partition) => 2 + versions.indexOf(ages[partition]!)),
  };
  const changes = weights.map((weight, id): Change => ({ kind: 'set-weight', id, weight }));
  const state = applyChanges(base, changes);
  const versionHours = new Map(versions.map((age, at) => [2 + at, NOW_HOURS - age]));
  const plan = planVersion({ head, headId: ID, state, versionHours, nowHours: NOW_HOURS });
  const ring = nextRing(plan, { head, headId: ID, state, direct: false });
  const from = { entries: [pushed], state: base, head };
  const { later, movesLeft } = plan;
  const entry = { kind: 'commit', figures: { movesLeft } } as const;
  return { plan, guard: changeGuardOf(from, { ring, state, later, entry }, null) };
}

const shuffled = [0.2, 3, 0.3, 4, 0.1, 5];

test('a change of a third is stopped, even if all of it rests and the first wave is empty', () => {
  const atOnce = judged(0, () => 50, shuffled);
  expect(atOnce.plan.moves.length).toBeGreaterThan(100);
  expect(atOnce.guard?.large).toMatch(/^\d+ of 768 slots move/);
  const resting = judged(24, (partition) => 1 + (partition % 20), shuffled);
  expect(resting.plan.moves).toEqual([]);
  expect(resting.plan.movesLeft).toBeGreaterThan(200);
  expect(resting.guard?.large).toMatch(/^\d+ of 768 slots move/);
  expect(resting.guard?.size).toMatchObject({ moved: resting.plan.movesLeft, underQuorum: 0 });
});

test('a small change passes, also if some of its partitions must rest', () => {
  for (const hours of [0, 24]) {
    const { plan, guard } = judged(hours, (partition) => 1 + 40 * (partition % 2), [0.9]);
    expect([plan.moves.length + plan.movesLeft > 0, guard]).toEqual([true, null]);
  }
});

test('slots of a partition that move in different waves do not count as below a quorum', () => {
  // Two devices are drained: some partitions move two slots, one wave after the other.
  const { plan, guard } = judged(0, () => 50, [0, 1, 1, 1, 0]);
  const waves = plan.later.flat().map(({ partition }) => partition);
  expect(plan.moves.some(({ partition }) => waves.includes(partition))).toBe(true);
  expect(guard?.size.underQuorum).toBe(0);
});
