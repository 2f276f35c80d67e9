// What the queue of loads knows, in this life of the process: of each keyspace, of a load that
// waits for its turn, and what the status shows of it.
import { CodedError, hasCode } from '@ringwright/base/coded-error';
import type { LoadStage } from '@ringwright/wire/moves';
import { localityOf } from '../copies/locality.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import { type LoadCandidate, loadLimits, type WaitReason } from './choose-loads.ts';
import type { MoveControls } from './move-controls.ts';
import type { DutyStep } from './plan-duties.ts';

/** What earlier attempts of a load found. */
export interface EarlierLoads {
  /** Copies from the replaced device that did not match their manifest. */
  readonly sourceFaults: number;
  /** Bytes of the file if the disk had no room for it; else null. */
  readonly bytes: number | null;
}

interface LoadAttempt {
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
  if (!hasCode(error, 'DISK_FULL')) return null;
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

/** Of one keyspace. Written by the queue of loads alone; others see a LoadsView. */
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
    const isNamed = ring.table.some((row) => row[partition] === self);
    if (!inFlight.has(assignment) && !isNamed) notes.loaded.delete(partition);
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

export type LoadStep = Extract<DutyStep, { kind: 'load' | 'refill' }>;

export interface WaitingLoad extends LoadCandidate {
  readonly active: ActiveRing;
  readonly notes: LoadNotes;
  readonly step: LoadStep;
}

/** Returns earlier attempts for the same move; another move begins without any. */
export function attemptOf({
  notes,
  partition,
  assignment,
}: Pick<WaitingLoad, 'notes' | 'partition' | 'assignment'>): LoadAttempt {
  const attempt = notes.attempts.get(partition);
  if (attempt?.assignment === assignment) return attempt;
  return { assignment, failures: 0, sourceFaults: 0, lacksRoom: false, notBeforeMs: 0 };
}

export function earlierOf(chosen: WaitingLoad): EarlierLoads {
  const { sourceFaults, lacksRoom } = attemptOf(chosen);
  return { sourceFaults, bytes: lacksRoom ? chosen.bytes : null };
}

export function candidateOf(
  {
    active,
    notes,
    controls,
  }: Pick<WaitingLoad, 'active' | 'notes'> & {
    controls: Pick<MoveControls, 'priority' | 'isPaused'>;
  },
  step: LoadStep,
): LoadCandidate {
  const { partition } = step;
  const move = step.kind === 'load' ? step.move : null;
  const assignment = move?.assignment ?? null;
  const { keyspace } = active.ring;
  const bytes = notes.progress.get(partition)?.bytesTotal ?? 0;
  return {
    keyspace,
    partition,
    assignment,
    source: localityOf(active.ring, move?.from ?? null),
    sourceName: `${keyspace}/${move?.from ?? null}`,
    bytes: bytes === 0 ? null : bytes,
    priority: assignment === null ? 0 : controls.priority(keyspace, assignment),
    paused: assignment !== null && controls.isPaused(keyspace, assignment),
    notBeforeMs: attemptOf({ notes, partition, assignment }).notBeforeMs,
  };
}

/** Names the location of the source: several servers may share an address and a zone. */
function waitText({ source }: WaitingLoad, why: Exclude<WaitReason, 'cooldown'>): string {
  const { device, server, zone } = loadLimits;
  switch (why) {
    case 'paused':
      return 'paused by an operator';
    case 'busy':
      return 'the source has no room for another copy yet';
    case 'device':
      return `${device} loads run here, the maximum`;
    case 'server':
      return `${server} loads from servers at ${source?.server} run here, the maximum`;
    case 'zone':
      return `${zone} loads from zone ${source?.zone} run here, the maximum`;
    case 'throttle':
      return 'requests have priority: fewer loads run';
  }
}

/** A load in a cooldown keeps showing the result of its last attempt. */
export function showWaiting(waiting: WaitingLoad, why: WaitReason): void {
  if (why === 'cooldown') return;
  const stage = why === 'paused' ? 'paused' : 'queued';
  showProgress(waiting, { stage, reason: waitText(waiting, why) });
}

export function showStopped(stopped: WaitingLoad, { message }: CodedError): void {
  showProgress(stopped, { stage: 'queued', reason: message, bytes: 0 });
}

export function showProgress(
  { keyspace, partition, assignment, notes }: WaitingLoad,
  change: Partial<LoadProgress>,
): void {
  const before = notes.progress.get(partition) ?? startedLoad({ keyspace, partition, assignment });
  // Most of the thousands that wait show this already.
  const { stage, reason } = change;
  if (stage === 'queued' && before.stage === stage && before.reason === reason) return;
  notes.progress.set(partition, { ...before, room: null, assignment, ...change });
}
