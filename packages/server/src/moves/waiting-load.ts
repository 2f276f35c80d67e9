// A load that waits for its turn, and what earlier attempts of it found.
import { localityOf } from '../copies/locality.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import type { LoadCandidate } from './choose-loads.ts';
import type { LoadAttempt, LoadNotes } from './load-notes.ts';
import type { LoadTask } from './load-partition.ts';
import type { MoveControls } from './move-controls.ts';
import type { DutyStep } from './plan-duties.ts';

export type LoadStep = Extract<DutyStep, { kind: 'load' | 'refill' }>;

export interface WaitingLoad extends LoadCandidate {
  readonly active: ActiveRing;
  readonly notes: LoadNotes;
  readonly step: LoadStep;
  /** Aborted when nobody wants the load any more; the reason is a CodedError. */
  readonly stop: AbortController;
}

/** Of the same move: another one begins anew. */
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
