// What the mover knows of its work for one keyspace. Plain data, of this life of the process.
import type { ActiveRing } from '../rings/active-ring.ts';
import type { FormerSlots } from './confirm-takeover.ts';
import type { LoadProgress } from './load-progress.ts';
import { isSurplus } from './plan-duties.ts';

export interface LoadAttempt {
  /** Of the move it was for; null for a refill. */
  readonly assignment: number | null;
  /** One after the other. */
  readonly failures: number;
  /** Of them, copies of the device replaced that were not what their manifest said. */
  readonly sourceFaults: number;
  /** The last one found the disk too full for a file whose size is known. */
  readonly lacksRoom: boolean;
  /** The next attempt waits for this time of the monotonic clock. */
  readonly notBeforeMs: number;
}

export interface KeyspaceWork {
  /** Assignment ids loaded in this life, by partition. */
  readonly loaded: Map<number, number>;
  readonly progress: Map<number, LoadProgress>;
  /** Slots of the partitions that this device joins, as its rings have shown them. */
  readonly former: Map<number, FormerSlots>;
  /** Earlier attempts of loads that have not ended, by partition. */
  readonly attempts: Map<number, LoadAttempt>;
  /** Signed receipts of moves loaded in this life, by assignment id. */
  readonly receipts: Map<number, string>;
  /** Partitions a load or drain runs for, and drains that wait to run again after a failure. */
  readonly running: Set<number>;
  /** Why drains have not ended yet. */
  readonly draining: Map<number, string>;
  /** How often each of them has failed. */
  readonly drainFailures: Map<number, number>;
  /** Damaged files that an operator has let go although they are many. */
  quarantinesConfirmed: number;
  /** What failed since the last review began, by the kind of step, and why. */
  readonly failing: Map<string, string>;
  /** The review under way; null between reviews. */
  review: Promise<void> | null;
  again: boolean;
  /** How long the last one took. */
  reviewMs: number;
  /** A timer will begin one. */
  isReviewDue: boolean;
  /** What the next retry lets go; null while none is planned. */
  releases: (() => void)[] | null;
}

export function newWork(): KeyspaceWork {
  return {
    loaded: new Map(),
    progress: new Map(),
    former: new Map(),
    attempts: new Map(),
    receipts: new Map(),
    running: new Set(),
    draining: new Map(),
    drainFailures: new Map(),
    failing: new Map(),
    quarantinesConfirmed: 0,
    review: null,
    again: false,
    reviewMs: 0,
    isReviewDue: false,
    releases: null,
  };
}

/** What was noted for moves that the ring no longer lists has had its time. */
export function forgetEnded(active: ActiveRing, work: KeyspaceWork): void {
  const { ring, self } = active;
  const inFlight = new Set(
    ring.moves.flatMap((move) => (move.to === self ? [move.assignment] : [])),
  );
  for (const [partition, assignment] of work.loaded) {
    const named = ring.table.some((row) => row[partition] === self);
    if (!inFlight.has(assignment) && !named) work.loaded.delete(partition);
  }
  for (const assignment of work.receipts.keys()) {
    if (!inFlight.has(assignment)) work.receipts.delete(assignment);
  }
  for (const map of [work.draining, work.drainFailures]) {
    for (const partition of map.keys()) {
      if (!isSurplus(active, partition)) map.delete(partition);
    }
  }
  for (const map of [work.progress, work.attempts]) {
    for (const [partition, { assignment }] of map) {
      if (assignment !== null && !inFlight.has(assignment)) map.delete(partition);
    }
  }
}
