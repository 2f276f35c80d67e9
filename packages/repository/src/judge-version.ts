// The operator's guard at a commit: is the next version a large change, and who lets it pass? Pure.
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
  /** Why it is a large change; null when it is none. */
  readonly large: string | null;
  /** The reason it passes all the same, when one was needed and given. */
  readonly override: string | null;
}

interface VersionToJudge {
  readonly ring: Ring;
  readonly state: BuilderState;
  /** Of a revert, with `details.revert`. */
  readonly entry: Pick<LogEntry, 'kind'> & Partial<Pick<LogEntry, 'details'>>;
  /** Moves that a commit leaves for later versions: they are judged with it. */
  readonly later?: LaterWaves | undefined;
}

/** What the version follows. */
export interface JudgedFrom {
  readonly entries: readonly LogEntry[];
  readonly state: BuilderState;
  readonly head: Ring | null;
}

/** What holds a large change up, and what lets it pass. */
export interface ChangeGuard {
  readonly large: string;
  readonly size: ChangeSize;
  /** Whether a reason is enough. */
  readonly override: boolean;
  /** Whether it may be committed now and wait for a second signature. */
  readonly secondSignature: boolean;
}

/**
 * A large one passes with a reason; in a signed folder it may also wait for its second signature,
 * if there is a second key. Throws BRAKE, VALUE_OUT_OF_RANGE.
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
 * Servers see no more than the first wave. One that is large by itself says why it passes; else
 * they refuse it as a large one that hides, and no further signature helps.
 */
function waveVerdict(from: JudgedFrom, { ring }: VersionToJudge, trust: Trust | null): Verdict {
  const head = knownHead(from);
  if (head === null || trust === null) return { large: null, override: null };
  const large = whyLarge(changeSize(head, ring), trust.root.roles.ring.movedShare);
  const override = `first wave of version ${ring.version}: no large change with the others`;
  return { large, override: large === null ? null : override };
}

/** Null: nothing can be lost by a first version, nor by any of a ring that was never pushed. */
function knownHead({ entries, head }: JudgedFrom): Ring | null {
  return entries.some(reachesServers) ? head : null;
}

/** Null for a change that is not large. */
export function changeGuardOf(
  from: JudgedFrom,
  version: VersionToJudge,
  trust: Trust | null,
): ChangeGuard | null {
  const head = knownHead(from);
  if (head === null) return null;
  const removed = newlyRemoved(from.state, version.state);
  const now = changeSize(head, version.ring, removed);
  const size = withLaterWaves(now, head, version);
  const role = trust?.root.roles.ring ?? null;
  const large = forced(now, version.ring) ?? whyLarge(size, role?.movedShare ?? guardMovedShareMax);
  if (large === null) return null;
  const secondSignature = role !== null && role.large <= role.keys.length;
  return { large, size, override: role?.override ?? true, secondSignature };
}

/** What was removed before has been judged before. */
function newlyRemoved(before: BuilderState, after: BuilderState): ReadonlySet<number> {
  const isRemoved = ({ devices }: BuilderState, id: number): boolean =>
    devices[id]?.state === 'removed';
  const ids = after.devices.map((_, id) => id);
  return new Set(ids.filter((id) => isRemoved(after, id) && !isRemoved(before, id)));
}

/**
 * Many small waves are one change, also when the first of them is empty since everything rests. But
 * slots of a partition that move one after the other are never few at once.
 */
function withLaterWaves(
  now: ChangeSize,
  head: Ring,
  { ring, entry, later = [] }: VersionToJudge,
): ChangeSize {
  if (entry.kind !== 'commit' || later.length === 0) return now;
  // Where slots end up is all that counts, so waves after each other are one list of moves.
  const moves = later.flat().map((move, index): Move => {
    return { ...move, state: 'PROPOSED', assignment: ring.nextAssignment + index };
  });
  const whole = changeSize(head, { ...ring, moves: [...ring.moves, ...moves] });
  return { ...whole, underQuorum: now.underQuorum };
}

/** Servers that hold data are told to serve what nobody copies to them. */
function forced(size: ChangeSize, next: Ring): string | null {
  if (size.moved === 0 || next.moves.length > 0) return null;
  return `${size.moved} of ${size.slots} slots change device at once, without a copy (--direct)`;
}

function requireReason(reason: string): void {
  if (reason.trim() !== '' && reason.length <= overrideCharactersMax) return;
  const message = `a reason of ${reason.length} characters, 1 to ${overrideCharactersMax} wanted`;
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
    ? `${drain}${lookFirst(version)}to go on: --override "why this is right", which is logged`
    : 'the root of trust allows no override: leave it out, and let a second person sign';
  return new CodedError('BRAKE', message, {
    hint,
    details: { ...size, override, secondSignature },
  });
}

/** What a removed device holds counts as lost; one that is drained gives it away first. */
function drainInstead({ keyspace }: Ring, [first, ...more]: readonly number[]): string {
  if (first === undefined) return '';
  if (more.length > 0) return 'remove one after the other, a rollout in between; else ';
  const drain =
    `ring-builder unstage ${keyspace} && ring-builder set-weight ${keyspace} d${first} 0, ` +
    'then commit and rollout';
  return `as long as d${first} answers, drain it before it is removed: ${drain}; else `;
}

/** What shows the moves. Later waves, and a composite ring, have no plan of their own. */
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
