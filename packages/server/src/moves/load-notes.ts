// What the queue of loads has learned about one keyspace since this process started. Plain data.
import { CodedError } from '@ringwright/base/coded-error';
import type { LoadStage } from '@ringwright/wire/moves';
import type { ActiveRing } from '../rings/active-ring.ts';

export interface LoadAttempt {
  /** The move that the attempt was for; null for a refill. */
  readonly assignment: number | null;
  /** Number of failures in a row. */
  readonly failures: number;
  /** How many of these were copies from the replaced device that did not match their manifest. */
  readonly sourceFaults: number;
  /** Whether the last attempt found the disk too full for a file of known size. */
  readonly lacksRoom: boolean;
  /** Time of the monotonic clock before which no attempt starts. */
  readonly notBeforeMs: number;
}

/** The progress of a load, as shown in /v1/status and by the rollout. */
export interface LoadProgress {
  readonly keyspace: string;
  readonly partition: number;
  /** Assignment id of the move; null for a holder that refills. */
  readonly assignment: number | null;
  readonly stage: LoadStage;
  readonly bytes: number;
  readonly bytesTotal: number;
  readonly rows: number;
  /** Whole files received that passed length, keyed checksum, check and digest. */
  readonly copiesVerified: number;
  /** Why it waits, or why the last attempt failed; empty while it simply runs. */
  readonly reason: string;
  /** Set if the last attempt found too little room on this disk or on that of the source. */
  readonly room: LackedRoom | null;
}

export interface LackedRoom {
  readonly freeBytes: number;
  readonly neededBytes: number;
}

/** Returns the bytes that a DISK_FULL error names; null for another error, or if it names none. */
export function lackedRoom(error: unknown): LackedRoom | null {
  if (!(error instanceof CodedError) || error.code !== 'DISK_FULL') return null;
  const { freeBytes, neededBytes } = error.details;
  if (typeof freeBytes !== 'number' || typeof neededBytes !== 'number') return null;
  return { freeBytes, neededBytes };
}

export function startedLoad(
  load: Pick<LoadProgress, 'keyspace' | 'partition' | 'assignment'>,
): LoadProgress {
  return {
    ...load,
    stage: 'queued',
    bytes: 0,
    bytesTotal: 0,
    rows: 0,
    copiesVerified: 0,
    reason: '',
    room: null,
  };
}

/** Written by the queue of loads alone; others see a LoadsView. */
export interface LoadNotes {
  /** Assignment ids loaded since this process started, by partition. */
  readonly loaded: Map<number, number>;
  readonly progress: Map<number, LoadProgress>;
  /** Earlier attempts of loads that have not ended, by partition. */
  readonly attempts: Map<number, LoadAttempt>;
  /** Signed receipts of moves loaded since this process started, by assignment id. */
  readonly receipts: Map<number, string>;
  /** Partitions for which a load runs. */
  readonly running: Set<number>;
}

export interface LoadsView {
  readonly loaded: ReadonlyMap<number, number>;
  readonly progress: ReadonlyMap<number, LoadProgress>;
  readonly attempts: ReadonlyMap<number, LoadAttempt>;
  readonly receipts: ReadonlyMap<number, string>;
  readonly running: ReadonlySet<number>;
}

export function newLoadNotes(): LoadNotes {
  return {
    loaded: new Map(),
    progress: new Map(),
    attempts: new Map(),
    receipts: new Map(),
    running: new Set(),
  };
}

/** Drops the notes about moves that the ring no longer lists. */
export function forgetEndedLoads({ ring, self }: ActiveRing, notes: LoadNotes): void {
  const inFlight = new Set(
    ring.moves.flatMap((move) => (move.to === self ? [move.assignment] : [])),
  );
  for (const [partition, assignment] of notes.loaded) {
    const named = ring.table.some((row) => row[partition] === self);
    if (!inFlight.has(assignment) && !named) notes.loaded.delete(partition);
  }
  for (const assignment of notes.receipts.keys()) {
    if (!inFlight.has(assignment)) notes.receipts.delete(assignment);
  }
  for (const map of [notes.progress, notes.attempts]) {
    for (const [partition, { assignment }] of map) {
      if (assignment !== null && !inFlight.has(assignment)) map.delete(partition);
    }
  }
}
