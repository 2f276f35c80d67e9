// Turns a plan into a version: judges, commits and signs it. The last step of commit, revert and
// compose.
import { counted } from '@ringwright/base/counted';
import type { Finding } from '@ringwright/base/finding';
import { replicaLoss } from '@ringwright/builder/analysis/replica-loss';
import { nextRing } from '@ringwright/builder/plan/next-ring';
import type { Plan } from '@ringwright/builder/plan/plan';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { commitVersion } from '@ringwright/repository/commit-version';
import { type StoredVersion, stateOf } from '@ringwright/repository/folder/read-version';
import {
  type ChangeGuard,
  changeGuardOf,
  type JudgedFrom,
  judgeVersion,
} from '@ringwright/repository/judge-version';
import type { OpenedRing } from '@ringwright/repository/open-ring';
import { requireSound } from '@ringwright/ring/audit/audit-ring';
import { type Ring, slotTotal } from '@ringwright/ring/ring';
import type { Context } from '../cli/command.ts';
import { composedAnew, compositesOf } from '../versions/composites.ts';
import { exportCommand, isForSwift, lastPush } from '../versions/last-push.ts';
import { rampEndFindings } from '../versions/ramp-notes.ts';
import { ringKey, tellSigned, trustOf } from '../versions/signing.ts';
import { authorOf } from '../versions/stage-command.ts';

/** A plan with all inputs of its version. */
export interface PlanToCommit {
  readonly opened: OpenedRing;
  readonly plan: Plan;
  /** Staged changes applied; without emptied removed devices if no server has the ring. */
  readonly state: BuilderState;
  /** Straight to the final table: requested, or no server can have loaded the ring. */
  readonly direct: boolean;
  /** The version that was planned from; null before the first. */
  readonly head: { readonly ring: Ring; readonly id: string } | null;
  /** For a revert: the old version to go back to. */
  readonly old?: StoredVersion;
}

export interface CommitArgs {
  readonly message: string;
  readonly override: string | null;
  /** Partitions that were forced and may move again, and why. */
  readonly unproved?: { readonly partitions: readonly number[]; readonly reason: string };
  /** Devices whose disks are too small for their moves, and why that is accepted. */
  readonly overfill?: { readonly devices: readonly number[]; readonly reason: string };
  /** The version that a revert goes back to. */
  readonly revert?: number;
  /** The typed command made the version, not the staged ones: revert, compose. */
  readonly isTyped?: boolean;
}

interface CommittedPlan {
  readonly json: Readonly<Record<string, unknown>>;
  /** What was committed, and who signed it. */
  readonly lines: readonly [string, ...string[]];
  readonly next: string;
}

/** A state that somebody edited in builder.json may break rules that no command breaks. */
function requireSoundPlan(ring: Ring): void {
  requireSound(
    ring,
    'nothing was committed; if builder.json was edited by hand, ring-builder verify ' +
      `${ring.keyspace} names the file to restore; otherwise this is a bug in the builder, ` +
      'please report it',
  );
}

/** Returns what the change guard will object to at the commit, or null. Throws TRUST_INVALID. */
export async function plannedGuard(
  context: Context,
  inputs: PlanToCommit,
): Promise<ChangeGuard | null> {
  return changeGuardOf(judgedFrom(inputs), toJudge(inputs, ringOf(inputs)), await trustOf(context));
}

/**
 * Checks the version of a revert before the moves in flight are canceled for it. Throws
 * RING_AUDIT_FAILED, BRAKE, VALUE_OUT_OF_RANGE.
 */
export async function requireCommittable(
  context: Context,
  inputs: PlanToCommit,
  override: string | null,
): Promise<void> {
  const ring = ringOf(inputs);
  requireSoundPlan(ring);
  const versionToJudge = toJudge(inputs, ring);
  const details = inputs.old === undefined ? {} : { revert: inputs.old.ring.version };
  const version = { ...versionToJudge, entry: { ...versionToJudge.entry, details }, override };
  judgeVersion(judgedFrom(inputs), version, await trustOf(context));
}

/** Throws RING_AUDIT_FAILED and what commitVersion throws. */
export async function commitPlan(
  context: Context,
  inputs: PlanToCommit,
  { message, override, revert, isTyped, unproved, overfill }: CommitArgs,
): Promise<CommittedPlan> {
  const { opened, plan, direct, head } = inputs;
  const { ring, moves, moveLowerBound, movesLeft } = plan;
  const next = ringOf(inputs);
  requireSoundPlan(next);
  const { id, version } = await commitVersion(context.rings, {
    ...toJudge(inputs, next),
    entry: {
      ...authorOf(context),
      ...toJudge(inputs, next).entry,
      message,
      moves: moves.length,
      details: {
        ...{ direct, digest: plan.digest },
        ...(revert === undefined ? {} : { revert }),
        ...(overfill === undefined
          ? {}
          : { overfilled: [...overfill.devices], overfillReason: overfill.reason }),
        ...(unproved === undefined
          ? {}
          : { unproved: [...unproved.partitions], unprovedReason: unproved.reason }),
      },
    },
    ...(isTyped === true && { commands: [context.command] }),
    expected: {
      head: head && { version: head.ring.version, id: head.id },
      stagedDigest: opened.stagedDigest,
    },
    key: await ringKey(context),
    override,
  });
  const signed = await tellSigned(context, ring, version);
  const follow = composedAnew(await compositesOf(context.rings, ring), version);
  const inFlight = next.moves.length;
  const suffix =
    revert === undefined
      ? ''
      : `, ${isReached(plan) ? 'back' : 'as close as possible'} to ${revert}`;
  return {
    json: {
      ring,
      version,
      id,
      moved: moves.length,
      ended: endedSlots(inputs, next),
      moveLowerBound,
      movesLeft,
      direct,
      signed: signed.signed,
      signers: signed.signers,
      signaturesMissing: signed.missing,
      changed: true,
    },
    lines: [
      `committed ${ring} version ${version} (${id.slice(0, 12)})${suffix}: ${howOf(inputs, next)}`,
      ...endedRamps(inputs).map(({ message }) => message),
      ...signed.lines,
    ],
    next: signed.next ?? context.next(nextOf(inputs, inFlight, follow)),
  };
}

/** `follow`: the command that brings the version to a composite ring; not with moves in flight. */
function nextOf(inputs: PlanToCommit, inFlight: number, follow: string | null): string {
  const { entries, ring } = inputs.opened;
  if (isForSwift(entries)) return exportCommand(ring);
  return isRolledOut(inputs, inFlight) ? `rollout ${ring}` : (follow ?? `push ${ring}`);
}

/** Whether a rollout is needed: for moves, and for devices that leave a ring that servers have. */
function isRolledOut({ opened, state }: PlanToCommit, inFlight: number): boolean {
  const leaves = state.devices.some((device) => device?.state === 'removed');
  return inFlight > 0 || (leaves && lastPush(opened.entries) !== null);
}

/** Whether the moves of a revert reach the old placement exactly. */
export function isReached({ warnings }: Pick<Plan, 'warnings'>): boolean {
  return !warnings.some(({ code }) => code === 'DEVICES_GONE' || code === 'REPLICAS_STAY');
}

function howOf(inputs: PlanToCommit, next: Ring): string {
  if (inputs.head === null) return `${counted(slotTotal(next), 'slot')} placed`;
  const ended = endedSlots(inputs, next);
  const moves = inputs.plan.moves.length;
  const before = next.moves.length - moves;
  return [
    inputs.direct
      ? `${counted(moves, 'slot')} moved at once`
      : `${counted(moves, 'move')} proposed`,
    ...(!inputs.direct && before > 0 ? [`${before} in flight from before`] : []),
    ...(ended > 0 ? [`${counted(ended, 'slot')} dropped`] : []),
  ].join(', ');
}

function endedSlots({ head }: PlanToCommit, { replicas }: Ring): number {
  return head === null ? 0 : (replicaLoss(head.ring, replicas)?.slots ?? 0);
}

/** Returns ramps that this version ends before they have reached their target. */
export function endedRamps({ opened, state, old }: PlanToCommit): Finding[] {
  const states = { before: opened.state, after: state };
  return rampEndFindings(states, old === undefined ? null : stateOf(old));
}

/** Returns the version as a ring. Nothing is written. */
export function ringOf({ plan, state, direct, head }: PlanToCommit): Ring {
  return nextRing(plan, { head: head?.ring ?? null, headId: head?.id ?? null, state, direct });
}

function judgedFrom({ opened, head }: PlanToCommit): JudgedFrom {
  return { entries: opened.entries, state: opened.state, head: head?.ring ?? null };
}

function toJudge({ plan, state }: PlanToCommit, ring: Ring) {
  const { moveLowerBound, movesLeft, devices, later } = plan;
  const figures = { moveLowerBound, movesLeft, devices: devices.length };
  return { ring, state, later, entry: { kind: 'commit', figures } } as const;
}
