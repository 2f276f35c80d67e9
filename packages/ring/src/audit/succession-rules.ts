// The reasons why a ring may not follow another, one function each. judge-ring.ts documents the
// order in which they apply, and why. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { ringVersionJumpMax } from '@ringwright/base/limits';
import { settingsText } from '../partitioner/partitioner-settings.ts';
import { mayFollow } from '../partitioner/reshape.ts';
import { ancestorIdAt, type ForkPoint, type LinePosition } from './fork-point.ts';
import { whyLarge } from './large-change.ts';
import type { LocalRingState, RingCandidate } from './ring-candidate.ts';

const whichHistory = 'two folders publish this ring; find out which history is the right one';

/** Returns null when the rule does not object, or does not know enough yet. */
export type SuccessionRule = (
  localState: LocalRingState,
  candidate: RingCandidate,
) => CodedError | null;

/** Applies even when the server's trust is lost, because the epoch is stored on disk. */
export function refuseOldEpoch(
  { highest }: LocalRingState,
  { head, authentic }: RingCandidate,
): CodedError | null {
  const epoch = authentic?.signing.epoch;
  const message = `ring '${head.keyspace}' is of epoch ${epoch}; epoch ${highest?.epoch} was seen`;
  return new CodedError('RING_OLDER', message, { details: { epoch, highest } });
}

export function refuseLowerVersion(
  { highest }: LocalRingState,
  { head }: RingCandidate,
): CodedError | null {
  if (highest === undefined || head.version >= highest.version) return null;
  const candidateText = `version ${head.version} (${head.id.slice(0, 12)})`;
  const message = `${candidateText} refused: ${highest.version} is the highest version seen`;
  return new CodedError('RING_OLDER', message, {
    hint: 'push the head; to return to an old placement, revert makes a new version',
    details: { given: head, highest },
  });
}

/** A lower version that the line here does not have is not older: it is of another history. */
export function asFork(
  error: CodedError,
  { head }: RingCandidate,
  { version, id, other }: ForkPoint,
): CodedError {
  if (error.code !== 'RING_OLDER') return error;
  const both = `version ${version} here is ${short(id)}, and ${short(other)} there`;
  const message = `${nameOf({ head })} is of another history: ${both}`;
  return new CodedError('RING_FORK', message, { hint: whichHistory, details: error.details });
}

export function refuseOtherCluster(
  localState: LocalRingState,
  candidate: RingCandidate,
): CodedError | null {
  const [is, has] = [candidate.manifest?.cluster, localState.active?.ring.cluster];
  if (is === undefined || has === undefined || is === has) return null;
  const message = `${nameOf(candidate)} belongs to cluster '${is}', this server to '${has}'`;
  return new CodedError('RING_FOREIGN', message, { details: bothOf(localState, candidate) });
}

export function refuseOtherPartitioner(
  localState: LocalRingState,
  candidate: RingCandidate,
): CodedError | null {
  const [candidateRing, active] = [candidate.opened?.ring, localState.active?.ring];
  if (candidateRing === undefined || active === undefined) return null;
  if (mayFollow(active.partitioner, candidateRing.partitioner)) return null;
  const [is, has] = [candidateRing, active].map(({ partitioner }) => settingsText(partitioner));
  const message = `${nameOf(candidate)} maps keys by ${is}, but the active ring by ${has}`;
  return new CodedError('RING_FOREIGN', message, { details: bothOf(localState, candidate) });
}

/** A head suffices: the caller then asks for its bytes as proof. */
export function refuseForkOfActive(
  localState: LocalRingState,
  candidate: RingCandidate,
): CodedError | null {
  const { active } = localState;
  const { version, id } = candidate.head;
  if (version !== active?.ring.version) return null;
  const ids = `active with id ${short(active.id)}, but was sent with id ${short(id)}`;
  return new CodedError('RING_FORK', `${nameOf(candidate)} is ${ids}`, {
    hint: whichHistory,
    details: bothOf(localState, candidate),
  });
}

export function refuseVersionJump(
  localState: LocalRingState,
  candidate: RingCandidate,
): CodedError | null {
  const { active } = localState;
  const { head, manifest } = candidate;
  if (active === undefined || manifest === undefined) return null;
  const { version } = active.ring;
  if (head.version - version <= ringVersionJumpMax) return null;
  const jump = `more than ${ringVersionJumpMax} above the active ${version}`;
  const message = `${nameOf(candidate)} is ${jump}`;
  return new CodedError('RING_VERSION_JUMP', message, { details: bothOf(localState, candidate) });
}

export function refuseOtherLine(
  localState: LocalRingState,
  candidate: RingCandidate,
): CodedError | null {
  const { active } = localState;
  if (active === undefined) return null;
  const { version } = active.ring;
  const ancestorId = ancestorIdAt(linePositionOf(candidate), version);
  if (ancestorId === undefined || ancestorId === active.id) return null;
  const other = `version ${version} here is ${short(active.id)}`;
  const message = `${nameOf(candidate)} follows ${short(ancestorId)}, but ${other}`;
  return new CodedError('RING_FORK', message, {
    details: bothOf(localState, candidate),
  });
}

/** Applies when the file of the highest version was lost, but its id is known. */
export function refuseForkOfHighest(
  { highest }: LocalRingState,
  candidate: RingCandidate,
): CodedError | null {
  if (highest === undefined) return null;
  const { head } = candidate;
  const { version, id } = highest;
  const ancestorId = ancestorIdAt(linePositionOf(candidate), version);
  if (ancestorId === undefined || ancestorId === id) return null;
  const message =
    head.version === version
      ? `version ${version} was seen with id ${id}, but was sent with id ${head.id}`
      : `${nameOf({ head })} follows ${short(ancestorId)}, but version ${version} was seen as ${short(id)}`;
  return new CodedError('RING_FORK', message, { details: { given: head, highest } });
}

export function refuseUnknownLine(
  { active, highest, alarm }: LocalRingState,
  candidate: RingCandidate,
): CodedError | null {
  const { head, manifest } = candidate;
  if (alarm === null || manifest === undefined) return null;
  // The lost file of the highest version may come back.
  if (highest === undefined || highest.id === head.id) return null;
  if (
    active !== undefined &&
    ancestorIdAt(linePositionOf(candidate), active.ring.version) === active.id
  ) {
    return null;
  }
  const { keyspace, version } = head;
  const twice = `version ${alarm.version} of ring '${keyspace}' exists twice`;
  const message = `${twice}, and version ${version} does not say to which history it belongs`;
  return new CodedError('RING_FORK', message, {
    hint: `find out which history is right, then run there: ring-builder settle ${keyspace} -m REASON`,
    details: { given: head, alarm },
  });
}

/** Not one of the ordered rules: applies to a candidate that forks at `version`. */
export function refuseLosingLine(
  { active, alarm, chosen }: LocalRingState,
  { head }: RingCandidate,
  version: number,
): CodedError | null {
  if (active === undefined || chosen === null || alarm !== null) return null;
  // Until the chosen line is active here, a ring of that line does not follow the active one
  // either.
  const isActive = active.ring.version > chosen.version || active.id === chosen.id;
  if (!isActive || version > chosen.version) return null;
  const decision = `version ${chosen.version} (${short(chosen.id)}) was declared the right one`;
  const named = `${nameOf({ head })} (${short(head.id)})`;
  const message = `${named} is of the history that lost: ${decision}`;
  return new CodedError('RING_FORK_SETTLED', message, {
    hint: `ring-builder restore ${head.keyspace} --from IP:PORT --replace takes over the right one, and keeps this one`,
    details: { given: head, chosen },
  });
}

export function refuseUnsound(
  _standing: LocalRingState,
  { head, opened }: RingCandidate,
): CodedError | null {
  const [first] = opened?.findings ?? [];
  if (first === undefined) return null;
  const message = `${nameOf({ head })}: ${first.message}`;
  return new CodedError('RING_AUDIT_FAILED', message, { details: { findings: opened?.findings } });
}

/**
 * A change declared as large has shown its signatures, or the override that the root allows. Only a
 * direct successor can be judged: a server that was down sees several ordinary changes as one.
 */
export function refuseUndeclaredLarge(
  _standing: LocalRingState,
  { head, authentic, opened }: RingCandidate,
): CodedError | null {
  const size = opened?.change ?? null;
  if (!authentic || authentic.signing.large || size === null) return null;
  const reason = whyLarge(size, authentic.trust.root.roles.ring.movedShare);
  if (reason === null) return null;
  const message = `${nameOf({ head })} is declared a small change, but ${reason}`;
  return new CodedError('BRAKE', message, {
    hint: 'find out who signed it: a commit of ring-builder would have required a second signature',
    details: { ...size },
  });
}

/** Returns the candidate's place in its line. A head alone states no parent or ancestors. */
export function linePositionOf({ head, manifest }: RingCandidate): LinePosition {
  return { ...head, parent: manifest?.parent, ancestors: manifest?.ancestors };
}

function nameOf({ head }: Pick<RingCandidate, 'head'>): string {
  return `ring '${head.keyspace}' version ${head.version}`;
}

function bothOf({ active }: LocalRingState, { head }: RingCandidate): Record<string, unknown> {
  const versions = { active: active?.ring.version, given: head.version };
  return { ...versions, activeId: active?.id, givenId: head.id };
}

function short(id: string | null): string {
  return id === null ? 'nothing' : id.slice(0, 12);
}
