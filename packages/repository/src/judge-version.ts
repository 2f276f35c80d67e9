// The change guard at a commit: decides whether the next version is a large change, and what lets
// it pass. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { guardMovedShareMax, overrideCharactersMax } from '@ringwright/base/limits';
import type { LaterWaves } from '@ringwright/builder/plan/plan';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { type ChangeSize, changeSize, whyLarge } from '@ringwright/ring/audit/large-change';
import type { Move } from '@ringwright/ring/move';
import type { Ring } from '@ringwright/ring/ring';
import type { Trust } from '@ringwright/ring/trust/trust-root';
import { type LogEntry, reachesServers } from './folder/log-entry.ts';

export interface Verdict {
  /** Why it is a large change; null if it is none. */
  readonly large: string | null;
  /** The reason that lets it pass, if one was needed and given. */
  readonly override: string | null;
}

interface VersionToJudge {
  readonly ring: Ring;
  readonly state: BuilderState;
  /** The kind of the log entry; a revert has `details.revert`. */
  readonly entry: Pick<LogEntry, 'kind'> & Partial<Pick<LogEntry, 'details'>>;
  /** Moves that a commit leaves for later versions. They are judged with it. */
  readonly later?: LaterWaves | undefined;
}

/** What the version follows. */
export interface JudgedFrom {
  readonly entries: readonly LogEntry[];
  readonly state: BuilderState;
  readonly head: Ring | null;
}

/** Why the change guard stops a large change, and what lets it pass. */
export interface ChangeGuard {
  readonly large: string;
  readonly size: ChangeSize;
  /** Whether a reason is enough. */
  readonly override: boolean;
  /** Whether it may be committed now and wait for a second signature. */
  readonly secondSignature: boolean;
}

/**
 * Lets a large change pass with a reason. In a signed folder it may also wait for its second
 * signature, if there is a second key. Throws BRAKE, VALUE_OUT_OF_RANGE.
 */
export function judgeVersion(
  from: JudgedFrom,
  version: VersionToJudge & { readonly override: string | null },
  trust: Trust | null,
): Verdict {
  const guard = changeGuardOf(from, version, trust);
  if (guard === null) return waveVerdict(from, version, trust);
  const { override } = version;
  const { large } = guard;
  if (override !== null) requireReason(override);
  const passes = override === null ? guard.secondSignature : guard.override;
  if (passes) return { large, override };
  throw guarded(from, version, guard);
}

/**
 * Judges a first wave alone, because servers see no more of the change. If it looks large by
 * itself, its manifest must say why it passes. Otherwise servers refuse it as a large change that
 * does not declare itself, and no further signature helps.
 */
function waveVerdict(from: JudgedFrom, { ring }: VersionToJudge, trust: Trust | null): Verdict {
  const head = knownHead(from);
  if (head === null || trust === null) return { large: null, override: null };
  const large = whyLarge(changeSize(head, ring), trust.root.roles.ring.movedShare);
  const override = `first wave of version ${ring.version}: no large change with the others`;
  return { large, override: large === null ? null : override };
}

/** Returns null for a first version, and for a ring that was never pushed: nothing can be lost. */
function knownHead({ entries, head }: JudgedFrom): Ring | null {
  return entries.some(reachesServers) ? head : null;
}

/** Returns null if the change is not large. */
export function changeGuardOf(
  from: JudgedFrom,
  version: VersionToJudge,
  trust: Trust | null,
): ChangeGuard | null {
  const head = knownHead(from);
  if (head === null) return null;
  const removed = newlyRemoved(from.state, version.state);
  const versionSize = changeSize(head, version.ring, removed);
  const size = withLaterWaves(versionSize, head, version);
  const role = trust?.root.roles.ring ?? null;
  const large =
    forced(versionSize, version.ring) ?? whyLarge(size, role?.movedShare ?? guardMovedShareMax);
  if (large === null) return null;
  const secondSignature = role !== null && role.large <= role.keys.length;
  return { large, size, override: role?.override ?? true, secondSignature };
}

/** Returns devices removed by this version. Earlier removals were judged before. */
function newlyRemoved(before: BuilderState, after: BuilderState): ReadonlySet<number> {
  const isRemoved = ({ devices }: BuilderState, id: number): boolean =>
    devices[id]?.state === 'removed';
  const ids = after.devices.keys();
  return new Set(ids.filter((id) => isRemoved(after, id) && !isRemoved(before, id)));
}

/**
 * Sums up all waves: many small waves are one change, even if the first is empty because all
 * partitions rest. But underQuorum is that of the first wave, because slots of a partition that
 * move one after the other never fall below a quorum at once.
 */
function withLaterWaves(
  versionSize: ChangeSize,
  head: Ring,
  { ring, entry, later = [] }: VersionToJudge,
): ChangeSize {
  if (entry.kind !== 'commit' || later.length === 0) return versionSize;
  // Only the final devices of slots count, so successive waves can be one list of moves.
  const moves = later.flat().map((move, index): Move => {
    return { ...move, state: 'PROPOSED', assignment: ring.nextAssignment + index };
  });
  const totalSize = changeSize(head, { ...ring, moves: [...ring.moves, ...moves] });
  return { ...totalSize, underQuorum: versionSize.underQuorum };
}

/**
 * Detects --direct on servers that hold data: they would serve partitions that nobody copies to
 * them.
 */
function forced(size: ChangeSize, next: Ring): string | null {
  if (size.moved === 0 || next.moves.length > 0) return null;
  return `${size.moved} of ${size.slots} slots change their device at once, without a copy (--direct)`;
}

function requireReason(reason: string): void {
  if (reason.trim() !== '' && reason.length <= overrideCharactersMax) return;
  const message = `the reason has ${reason.length} characters, not 1 to ${overrideCharactersMax}`;
  throw new CodedError('VALUE_OUT_OF_RANGE', message, {
    hint: '--override "why this is right"',
  });
}

function guarded(
  { state: before }: JudgedFrom,
  version: VersionToJudge,
  { large, size, override, secondSignature }: ChangeGuard,
): CodedError {
  const { ring, state } = version;
  const message = `version ${ring.version} of ${ring.keyspace} is a large change: ${large}`;
  const drain = size.underQuorum > 0 ? drainInstead(ring, [...newlyRemoved(before, state)]) : '';
  const hint = override
    ? `${drain}${lookFirst(version)}to continue: --override "why this is right", which is logged`
    : 'the root of trust allows no override: omit it, and let a second person sign';
  return new CodedError('BRAKE', message, {
    hint,
    details: { ...size, override, secondSignature },
  });
}

/**
 * Suggests to drain a removed device. Slots of a removed device count as lost; a drained one moves
 * them first.
 */
function drainInstead({ keyspace }: Ring, [first, ...more]: readonly number[]): string {
  if (first === undefined) return '';
  if (more.length > 0) return 'remove them one by one, with a rollout in between; otherwise ';
  const drain =
    `ring-builder unstage ${keyspace} && ring-builder set-weight ${keyspace} d${first} 0, ` +
    'then commit and rollout';
  return `if d${first} still answers, drain it before you remove it: ${drain}; otherwise `;
}

/** Names the command that shows the moves. Later waves and composite rings have no plan to show. */
function lookFirst({
  ring: { keyspace },
  state,
  entry: { kind, details },
}: VersionToJudge): string {
  if (kind !== 'commit' || state.components !== undefined) return '';
  const revert = details?.['revert'];
  const shows = typeof revert === 'number' ? `revert ${keyspace} ${revert}` : `plan ${keyspace}`;
  return `see ring-builder ${shows}; `;
}
