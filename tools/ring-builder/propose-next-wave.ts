// The moves that did not fit the last version: one slot of a partition per version, bounded waves.
import { must } from '@ringwright/base/assert';
import type { BuilderState } from '@ringwright/builder/builder-state';
import { nextRing } from '@ringwright/builder/next-ring';
import type { Plan } from '@ringwright/builder/plan';
import { planVersion } from '@ringwright/builder/plan-version';
import { revertPlan } from '@ringwright/builder/revert-plan';
import { commitVersion } from '@ringwright/repository/commit-version';
import type { LogEntry } from '@ringwright/repository/log-entry';
import { readLog } from '@ringwright/repository/read-log';
import { readVersion, type StoredVersion } from '@ringwright/repository/read-version';
import { z } from 'zod';
import { hoursOf, MS_PER_HOUR } from './prepare-plan.ts';
import { ringKey } from './signing.ts';
import { authorOf } from './stage-verb.ts';
import type { Context } from './verb.ts';
import { waveOverride } from './wave-override.ts';

/**
 * Commits the next wave of what was committed before, staged changes left out; false when there is
 * none. Throws BRAKE when it is a large change with the waves before it, and nobody said why.
 */
export async function proposeNextWave(
  context: Context,
  head: StoredVersion,
  override: string | null,
): Promise<boolean> {
  const state = must(head.state, `version ${head.ring.version} carries the builder`);
  const entries = await readLog(context.rings, head.ring.keyspace);
  const plan = await nextWave(context, head, { state, entries });
  if (plan.moves.length === 0) return false;
  context.tell(
    `${head.ring.keyspace}: ${plan.moves.length} moves of the same commit are left; next wave`,
  );
  const ring = nextRing(plan, { head: head.ring, headId: head.id, state, direct: false });
  await commitVersion(context.rings, {
    ring,
    state,
    entry: {
      ...authorOf(context),
      kind: 'advance',
      message: `next wave: ${plan.moves.length} moves proposed`,
      moves: plan.moves.length,
      figures: { moveLowerBound: plan.moveLowerBound, movesLeft: plan.movesLeft },
      details: {},
    },
    expected: { head: { version: head.ring.version, id: head.id } },
    key: await ringKey(context),
    override: override ?? (await waveOverride(context.rings, { head, ring, entries })),
  });
  return true;
}

/** Whether there is a next wave to propose. */
export async function isWaveLeft(context: Context, head: StoredVersion): Promise<boolean> {
  const state = must(head.state, `version ${head.ring.version} carries the builder`);
  const entries = await readLog(context.rings, head.ring.keyspace);
  return (await nextWave(context, head, { state, entries })).moves.length > 0;
}

/** The next wave of a revert goes on to the old placement; any other, to the planned one. */
async function nextWave(
  context: Context,
  head: StoredVersion,
  { state, entries }: { readonly state: BuilderState; readonly entries: readonly LogEntry[] },
): Promise<Plan> {
  const revert = entries.findLast(({ kind }) => kind === 'commit')?.details['revert'];
  const from = { head: head.ring, headId: head.id, state, direct: false };
  if (typeof revert === 'number') {
    const old = await readVersion(context.rings, head.ring.keyspace, revert);
    return revertPlan({ ...from, old: old.ring });
  }
  return planVersion({
    ...from,
    versionHours: hoursOf(entries),
    nowHours: context.nowMs() / MS_PER_HOUR,
    still: cancelledSince(entries),
  });
}

/** A cancelled move does not come back by itself: the next commit may plan it again. */
function cancelledSince(entries: readonly LogEntry[]): ReadonlySet<number> {
  const since = entries.slice(entries.findLastIndex(({ kind }) => kind === 'commit') + 1);
  const lists = since.map(({ details }) => z.array(z.int()).safeParse(details['cancelled']));
  return new Set(lists.flatMap(({ data }) => data ?? []));
}
