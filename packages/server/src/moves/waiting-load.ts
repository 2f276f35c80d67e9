// A load that waits to start: what its earlier attempts found, and what the status shows.
import type { CodedError } from '@ringwright/base/coded-error';
import { localityOf } from '../copies/locality.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import { type LoadCandidate, loadLimits, type WaitReason } from './choose-loads.ts';
import { type LoadAttempt, type LoadNotes, type LoadProgress, startedLoad } from './load-notes.ts';
import type { LoadTask } from './load-partition.ts';
import type { MoveControls } from './move-controls.ts';
import type { DutyStep } from './plan-duties.ts';

export type LoadStep = Extract<DutyStep, { kind: 'load' | 'refill' }>;

export interface WaitingLoad extends LoadCandidate {
  readonly active: ActiveRing;
  readonly notes: LoadNotes;
  readonly step: LoadStep;
  /** Aborted when the load is not wanted any more; the reason is a CodedError. */
  readonly stop: AbortController;
}

/** Returns earlier attempts for the same move; another move begins without any. */
export function attemptOf({
  notes,
  partition,
  assignment,
}: Omit<WaitingLoad, 'stop'>): LoadAttempt {
  const attempt = notes.attempts.get(partition);
  if (attempt?.assignment === assignment) return attempt;
  return { assignment, failures: 0, sourceFaults: 0, lacksRoom: false, notBeforeMs: 0 };
}

export function earlierOf(chosen: WaitingLoad): NonNullable<LoadTask['earlier']> {
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
  const attempt = notes.attempts.get(partition);
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
    notBeforeMs: attempt?.assignment === assignment ? attempt.notBeforeMs : 0,
  };
}

/** Names the location of the source: several servers may share an address and a zone. */
function waitText({ source }: WaitingLoad, why: Exclude<WaitReason, 'cooldown'>): string {
  const { device, server, zone } = loadLimits;
  switch (why) {
    case 'paused':
      return 'paused by an operator';
    case 'busy':
      return 'the device it comes from has no place for one more copy';
    case 'device':
      return `${device} loads run here, the most at once`;
    case 'server':
      return `${server} loads from servers at ${source?.server} run here, the most at once`;
    case 'zone':
      return `${zone} loads from zone ${source?.zone} run here, the most at once`;
    case 'throttle':
      return 'requests go first: fewer loads run';
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
