// May this ring follow the one that a server has? Asked here and nowhere else. Pure.
//
// A server meets a ring up to three times: as a head, which anybody may claim; as the first bytes
// of its file, whose signatures hold; and as the whole file, decoded and audited. Each time the
// same rules are asked in the same order. A rule that needs more than is known yet does not object.
// So `adopt` for a head means "send the file", and `fork` for a head means "send the proof".
// Signatures are verified, files decoded and audited elsewhere; this judges their results.
//
// 1. Epoch. Versions are compared within one epoch only. A lower epoch than was seen is refused. A
//    higher one begins a new line: so the root keys end a line that was stolen.
// 2. The active ring itself is nothing new.
// 3. Nothing below the highest version on disk. The disk remembers it when the file of the active
//    ring is lost, so this comes before all that needs an active ring. It binds operators too.
// 4. A ring of another cluster, or with another partitioner, is refused whatever anybody says: the
//    records here would not be found under it. The partitioner is compared in whole files only. A
//    ring that is pushed under a wrong name raises no alarm; one that is active on another server
//    does, and its first bytes are the proof.
// 5. The line: one version with two ids, a version too far ahead, a child or later descendant of
//    another ring. Further back than its file names ancestors nobody can tell. It is compared with
//    the active ring, and with the highest version when the file of that was lost.
//    Not asked for a new epoch and for the ring that an operator named with `settle`.
// 6. After a fork that nobody has settled only what names the active ring tells its line.
// 7. The audit found nothing.
// 8. The change guard. Last: the size of a change means something only for a sound successor.
//
// A refused ring is a fork when both lines have one version with two ids, in the same cluster and
// epoch. The caller raises an alarm besides. Where an operator's word has ended that fork for the
// line that is active here, it is no fork any more, and the refusal says so (RING_FORK_SETTLED).
import type { CodedError } from '@ringwright/base/coded-error';
import { type ForkPoint, forkPointOf } from './fork-point.ts';
import type { RingCandidate, RingStanding } from './ring-candidate.ts';
import {
  belowHighest,
  besideHighest,
  isSecretlyLarge,
  isUnsound,
  mapsKeysOtherwise,
  ofAnotherLine,
  ofEndedEpoch,
  ofLostLine,
  ofOtherCluster,
  ofUnknownLine,
  placeOf,
  type SuccessionRule,
  tooFarAhead,
  twinOfActive,
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

export function judgeRing(standing: RingStanding, candidate: RingCandidate): RingVerdict {
  const line = lineOf(standing, candidate);
  const isComparable = line === 'chosen' || line === 'present';
  if (isComparable && standing.active?.id === candidate.head.id) return { kind: 'same' };
  for (const rule of rulesOf[line]) {
    const error = rule(standing, candidate);
    if (error === null) continue;
    const fork = line === 'present' ? forkFrom(standing, candidate) : null;
    const lost = fork === null ? null : ofLostLine(standing, candidate, fork.version);
    if (lost !== null) return { kind: 'refuse', error: lost };
    return fork === null ? { kind: 'refuse', error } : { kind: 'fork', error, fork };
  }
  return { kind: 'adopt', beginsEpoch: line === 'begun' };
}

/**
 * `ended`: of an epoch that is over. `begun`: of a new one, or perhaps, while its signatures are
 * not known. `chosen`: named by an operator. `present`: it has to continue what is here.
 */
type Line = 'ended' | 'begun' | 'chosen' | 'present';

function lineOf(
  { highest, chosen, epochMax }: RingStanding,
  { head, authentic }: RingCandidate,
): Line {
  const epoch = authentic?.signing.epoch;
  // The first signed ring goes on where the unsigned ones ended.
  if (highest?.epoch !== undefined) {
    if ((epoch ?? epochMax) > highest.epoch) return 'begun';
    if (epoch !== undefined && epoch < highest.epoch) return 'ended';
  }
  return chosen?.id === head.id && chosen.version === head.version ? 'chosen' : 'present';
}

const rulesOf: Readonly<Record<Line, readonly SuccessionRule[]>> = {
  ended: [ofEndedEpoch],
  begun: [ofOtherCluster, mapsKeysOtherwise, isUnsound, isSecretlyLarge],
  chosen: [belowHighest, ofOtherCluster, mapsKeysOtherwise, isUnsound, isSecretlyLarge],
  present: [
    belowHighest,
    ofOtherCluster,
    mapsKeysOtherwise,
    twinOfActive,
    tooFarAhead,
    ofAnotherLine,
    besideHighest,
    ofUnknownLine,
    isUnsound,
    isSecretlyLarge,
  ],
};

/** Null for a ring of another cluster or partitioner: it shares the name, and is no other line. */
function forkFrom(standing: RingStanding, candidate: RingCandidate): ForkPoint | null {
  const { active, highest } = standing;
  if (active === undefined) return null; // nothing says of which cluster the highest version was
  if (ofOtherCluster(standing, candidate) ?? mapsKeysOtherwise(standing, candidate)) return null;
  const theirs = placeOf(candidate);
  const fork = forkPointOf({ ...active.ring, id: active.id }, theirs);
  return fork ?? (highest === undefined ? null : forkPointOf(highest, theirs));
}
