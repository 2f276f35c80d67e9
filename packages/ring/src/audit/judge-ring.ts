// Decides whether a ring may follow the one that a server has. No other place decides this. Pure.
//
// A server meets a ring up to three times: as a head, which anybody may claim; as the first bytes
// of its file, whose signatures hold; and as the whole file, decoded and audited. Each time the
// same rules apply in the same order. A rule that needs more than is known so far does not object.
// So `adopt` for a head means "send the file", and `fork` for a head means "send the proof". Other
// modules verify signatures and decode and audit files; this one judges their results.
//
// 1. Epoch. Versions are compared within one epoch only. An epoch below the highest one seen is
//    refused. A higher epoch begins a new line: this is how the root keys end a stolen line.
// 2. The active ring itself is nothing new.
// 3. No version below the highest one on disk. The disk remembers it when the file of the active
//    ring is lost, so this rule precedes all that need an active ring. It binds operators too.
// 4. A ring of another cluster, or with another partitioner, is refused in any case, even when an
//    operator chose it: records would not be found under it. The partitioner is compared in whole
//    files only. A ring that is pushed under a wrong name raises no alarm. One that is active on
//    another server does, and its first bytes are the proof.
// 5. The line: one version with two ids, a version too far ahead, a child or later descendant of
//    another ring. A file names a limited number of ancestors; beyond them nothing is known. The
//    candidate is compared with the active ring, and with the highest version when that file was
//    lost. A new epoch and the ring that an operator chose with `settle` skip this rule.
// 6. After a fork that no operator has settled, only a ring that names the active one is accepted.
// 7. The audit found nothing.
// 8. The change guard. It is last, because the size of a change means something only for a sound
//    successor.
//
// A refused ring is a fork when both lines have one version with two ids, in the same cluster and
// epoch. The caller then raises an alarm too. After an operator has settled that fork for the line
// that is active here, it is a fork no longer, and the refusal is RING_FORK_SETTLED.
import type { CodedError } from '@ringwright/base/coded-error';
import { type ForkPoint, forkPointOf } from './fork-point.ts';
import type { LocalRingState, RingCandidate } from './ring-candidate.ts';
import {
  asFork,
  linePositionOf,
  refuseForkOfActive,
  refuseForkOfHighest,
  refuseLosingLine,
  refuseLowerVersion,
  refuseOldEpoch,
  refuseOtherCluster,
  refuseOtherLine,
  refuseOtherPartitioner,
  refuseUndeclaredLarge,
  refuseUnknownLine,
  refuseUnsound,
  refuseVersionJump,
  type SuccessionRule,
} from './succession-rules.ts';

/**
 * `error`: RING_OLDER, RING_FOREIGN, RING_FORK, RING_FORK_SETTLED, RING_VERSION_JUMP,
 * RING_AUDIT_FAILED or BRAKE.
 */
export type RingVerdict =
  | { readonly kind: 'same' }
  | { readonly kind: 'adopt'; readonly beginsEpoch: boolean }
  | { readonly kind: 'refuse'; readonly error: CodedError }
  | { readonly kind: 'fork'; readonly error: CodedError; readonly fork: ForkPoint };

export function judgeRing(localState: LocalRingState, candidate: RingCandidate): RingVerdict {
  const line = lineOf(localState, candidate);
  const isComparable = line === 'chosen' || line === 'present';
  if (isComparable && localState.active?.id === candidate.head.id) return { kind: 'same' };
  for (const rule of rulesOf[line]) {
    const error = rule(localState, candidate);
    if (error === null) continue;
    const fork = line === 'present' ? forkFrom(localState, candidate) : null;
    // A ring of another cluster or partitioner is no fork, despite its name.
    const foreign = fork === null ? null : refuseForeign(localState, candidate);
    if (foreign !== null) return { kind: 'refuse', error: foreign };
    const lostError = fork === null ? null : refuseLosingLine(localState, candidate, fork.version);
    if (lostError !== null) return { kind: 'refuse', error: lostError };
    return fork === null
      ? { kind: 'refuse', error }
      : { kind: 'fork', error: asFork(error, candidate, fork), fork };
  }
  return { kind: 'adopt', beginsEpoch: line === 'begun' };
}

/**
 * `ended`: of an epoch that is over. `begun`: of a new epoch, or possibly of one while its
 * signatures are unknown. `chosen`: named by an operator. `present`: must continue the present
 * line.
 */
type Line = 'ended' | 'begun' | 'chosen' | 'present';

function lineOf(
  { highest, chosen, epochMax }: LocalRingState,
  { head, authentic }: RingCandidate,
): Line {
  const epoch = authentic?.signing.epoch;
  // The first signed ring may continue the line of the unsigned ones.
  if (highest?.epoch !== undefined) {
    if ((epoch ?? epochMax) > highest.epoch) return 'begun';
    if (epoch !== undefined && epoch < highest.epoch) return 'ended';
  }
  return chosen?.id === head.id && chosen.version === head.version ? 'chosen' : 'present';
}

const rulesOf: Readonly<Record<Line, readonly SuccessionRule[]>> = {
  ended: [refuseOldEpoch],
  begun: [refuseOtherCluster, refuseOtherPartitioner, refuseUnsound, refuseUndeclaredLarge],
  chosen: [
    refuseLowerVersion,
    refuseOtherCluster,
    refuseOtherPartitioner,
    refuseUnsound,
    refuseUndeclaredLarge,
  ],
  present: [
    refuseLowerVersion,
    refuseOtherCluster,
    refuseOtherPartitioner,
    refuseForkOfActive,
    refuseVersionJump,
    refuseOtherLine,
    refuseForkOfHighest,
    refuseUnknownLine,
    refuseUnsound,
    refuseUndeclaredLarge,
  ],
};

function refuseForeign(localState: LocalRingState, candidate: RingCandidate): CodedError | null {
  return refuseOtherCluster(localState, candidate) ?? refuseOtherPartitioner(localState, candidate);
}

function forkFrom(localState: LocalRingState, candidate: RingCandidate): ForkPoint | null {
  const { active, highest } = localState;
  if (active === undefined) return null; // the cluster of the highest version is unknown
  const candidatePosition = linePositionOf(candidate);
  const fork = forkPointOf({ ...active.ring, id: active.id }, candidatePosition);
  return fork ?? (highest === undefined ? null : forkPointOf(highest, candidatePosition));
}
