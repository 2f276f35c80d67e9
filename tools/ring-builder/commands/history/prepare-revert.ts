// Plans a revert: cancels moves in flight, then plans toward the old placement.
import { isDeepStrictEqual } from 'node:util';
import type { Plan } from '@ringwright/builder/plan/plan';
import { revertPlan, revertState } from '@ringwright/builder/plan/revert-plan';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { requireNotComposed } from '@ringwright/builder/state/composition';
import { sameState } from '@ringwright/builder/state/state-json';
import { requireSteadyPower } from '@ringwright/builder/state/steady-power';
import { laterWavesOf } from '@ringwright/repository/folder/later-section';
import { readVersion, type StoredVersion } from '@ringwright/repository/folder/read-version';
import { type OpenedRing, openRing } from '@ringwright/repository/open-ring';
import { cancelMoves } from '@ringwright/ring/advance-ring';
import type { Move } from '@ringwright/ring/move';
import type { Ring } from '@ringwright/ring/ring';
import type { Context } from '../../cli/verb.ts';
import { lastPush } from '../../versions/last-push.ts';
import { stateOf } from '../../versions/state-of-version.ts';
import { notNotedFindings } from '../../versions/waves-left.ts';

export interface PreparedRevert {
  readonly opened: OpenedRing;
  readonly head: StoredVersion;
  readonly old: StoredVersion;
  /** The version that cancels the moves in flight; null if there are none. */
  readonly cancelled: Ring | null;
  /** Weights and settings as in the old version. */
  readonly state: BuilderState;
  readonly plan: Plan;
  readonly direct: boolean;
  /** False if everything is as it was, or on its way there. */
  readonly changed: boolean;
}

export async function prepareRevert(
  context: Context,
  ring: string,
  version: number,
): Promise<PreparedRevert> {
  const opened = await openRing(context.rings, ring);
  requireNotComposed(opened.state);
  requireSteadyPower(opened.state);
  const head = await readVersion(context.rings, ring, 'head');
  const old = await readVersion(context.rings, ring, version);
  const cancelled = cancelledHead(head);
  const { partitioner } = cancelled ?? head.ring;
  const state = { ...revertState(opened.state, stateOf(old)), partitioner };
  const direct = lastPush(opened.entries) === null;
  const planned = revertPlan({
    head: cancelled ?? head.ring,
    // The head's id even if moves are canceled first: the id of that version is unknown until it is
    // signed.
    headId: head.id,
    state,
    old: old.ring,
    direct,
  });
  const plan = { ...planned, warnings: [...planned.warnings, ...notNotedFindings(planned)] };
  const changed = !sameState(state, opened.state) || !leadsThere(head, planned);
  return { opened, head, old, cancelled, state, plan, direct, changed };
}

/**
 * Whether the moves in flight and the later waves are exactly what the plan would move (often
 * none).
 */
function leadsThere({ ring, extraSections }: StoredVersion, { moves, later }: Plan): boolean {
  const slotsOf = (some: readonly Pick<Move, 'partition' | 'replica' | 'to'>[]): Set<string> =>
    new Set(some.map(({ partition, replica, to }) => `${partition} ${replica} ${to}`));
  const onTheWay = slotsOf([...ring.moves, ...laterWavesOf(extraSections).flat()]);
  return isDeepStrictEqual(onTheWay, slotsOf([...moves, ...later.flat()]));
}

function cancelledHead({ ring, id }: StoredVersion): Ring | null {
  if (ring.moves.length === 0) return null;
  return cancelMoves(ring, id, new Set(ring.moves.map(({ assignment }) => assignment)));
}
