// The loads of this device: those that wait, those that run, and what became of earlier attempts.
import { CodedError } from '@ringwright/base/coded-error';
import { dutyRetryMs, dutyRetryMsMax } from '@ringwright/base/limits-copies';
import type { ActiveRing } from './active-ring.ts';
import { chooseLoads, type LoadCandidate, loadLimits, type WaitReason } from './choose-loads.ts';
import type { KeyspaceWork } from './keyspace-work.ts';
import { type LoadPorts, loadPartition } from './load-partition.ts';
import { type LoadProgress, startedLoad } from './load-progress.ts';
import { placeOf } from './place.ts';
import type { DutyStep } from './plan-duties.ts';

export type LoadStep = Extract<DutyStep, { kind: 'load' | 'refill' }>;

export interface LoadQueuePorts extends LoadPorts {
  /** Of a clock that never steps back. */
  readonly monotonicMs: () => number;
  readonly onError: (step: { kind: string; keyspace: string }, error: unknown) => void;
  /** A load has ended, well or not: files may serve now, and others may start. */
  readonly onEnded: () => void;
}

interface Waiting extends LoadCandidate {
  readonly active: ActiveRing;
  readonly work: KeyspaceWork;
  readonly step: LoadStep;
}

export class LoadQueue {
  readonly #ports: LoadQueuePorts;
  readonly #waiting = new Map<string, readonly Waiting[]>();
  readonly #running = new Set<Waiting>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(ports: LoadQueuePorts) {
    this.#ports = ports;
  }

  /** What a review found to load of one keyspace takes the place of what waited, and may start. */
  offer(active: ActiveRing, work: KeyspaceWork, steps: readonly LoadStep[]): void {
    const waiting = steps.map((step) => ({
      ...candidateOf(active, work, step),
      active,
      work,
      step,
    }));
    this.#waiting.set(active.ring.keyspace, waiting);
    this.#fill();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #fill(): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    const nowMs = this.#ports.monotonicMs();
    const candidates = [...this.#waiting.values()]
      .flat()
      // The review that offered them may have looked before their load ended.
      .filter(({ work, partition, assignment }) => work.loaded.get(partition) !== assignment);
    const running = [...this.#running].map(({ source }) => source);
    const choice = chooseLoads(candidates, { running, limits: loadLimits, nowMs });
    for (const { candidate, why } of choice.wait) showWaiting(candidate, why);
    for (const chosen of choice.start) void this.#run(chosen);
    if (choice.wakeAtMs === null) return;
    this.#timer = setTimeout(() => this.#fill(), choice.wakeAtMs - nowMs);
  }

  async #run(chosen: Waiting): Promise<void> {
    const { active, work, step, partition, keyspace } = chosen;
    const move = step.kind === 'load' ? step.move : null;
    const left = this.#waiting.get(keyspace)?.filter((one) => one !== chosen) ?? [];
    this.#waiting.set(keyspace, left);
    const onProgress = (change: Partial<LoadProgress>): void => showProgress(chosen, change);
    this.#running.add(chosen);
    work.running.add(partition);
    onProgress({ stage: 'reserving', reason: '' });
    try {
      await loadPartition(this.#ports, { active, partition, move, onProgress });
      // failpoint: load.before-ready
      if (move === null) this.#ports.store.setState(keyspace, partition, 'ready');
      else work.loaded.set(partition, move.assignment);
      work.attempts.delete(partition);
      onProgress({ stage: 'available', reason: '' });
    } catch (error) {
      this.#failed(chosen, error);
    } finally {
      this.#running.delete(chosen);
      work.running.delete(partition);
      if (!this.#closed) this.#ports.onEnded();
    }
  }

  /**
   * Tried again after a pause that doubles, for as long as the ring asks for it. A busy source is
   * no failure: others go ahead meanwhile.
   */
  #failed(failed: Waiting, error: unknown): void {
    if (this.#closed) return;
    const { work, partition, assignment, keyspace, step } = failed;
    const before = work.attempts.get(partition)?.failures ?? 0;
    const reason = error instanceof Error ? error.message : String(error);
    const isBusy = error instanceof CodedError && error.code === 'COPY_BUSY';
    const pauseMs = isBusy ? dutyRetryMs : Math.min(dutyRetryMs * 2 ** before, dutyRetryMsMax);
    const notBeforeMs = this.#ports.monotonicMs() + pauseMs;
    const failures = isBusy ? before : before + 1;
    work.attempts.set(partition, { assignment, failures, notBeforeMs });
    showProgress(failed, { stage: isBusy ? 'queued' : 'failed', reason });
    if (!isBusy) this.#ports.onError({ kind: step.kind, keyspace }, error);
  }
}

function candidateOf(active: ActiveRing, work: KeyspaceWork, step: LoadStep): LoadCandidate {
  const { partition } = step;
  const move = step.kind === 'load' ? step.move : null;
  const assignment = move?.assignment ?? null;
  const attempt = work.attempts.get(partition);
  const bytes = work.progress.get(partition)?.bytesTotal ?? 0;
  return {
    keyspace: active.ring.keyspace,
    partition,
    assignment,
    source: placeOf(active.ring, move?.from ?? null),
    bytes: bytes === 0 ? null : bytes,
    priority: 0,
    paused: false,
    notBeforeMs: attempt?.assignment === assignment ? attempt.notBeforeMs : 0,
  };
}

const waitTexts: Readonly<Record<Exclude<WaitReason, 'resting'>, string>> = {
  paused: 'paused by an operator',
  device: `${loadLimits.device} loads run here, the most at once`,
  server: `${loadLimits.server} loads from this server run here, the most at once`,
  zone: `${loadLimits.zone} loads from this zone run here, the most at once`,
};

/** One that rests shows what its last attempt said. */
function showWaiting(waiting: Waiting, why: WaitReason): void {
  if (why === 'resting') return;
  const stage = why === 'paused' ? 'paused' : 'queued';
  showProgress(waiting, { stage, reason: waitTexts[why] });
}

function showProgress(
  { keyspace, partition, assignment, work }: Waiting,
  change: Partial<LoadProgress>,
): void {
  const before = work.progress.get(partition) ?? startedLoad({ keyspace, partition, assignment });
  work.progress.set(partition, { ...before, assignment, ...change });
}
