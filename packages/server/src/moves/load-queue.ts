// The loads of this device: those that wait, those that run, and what became of earlier attempts.
import { CodedError } from '@ringwright/base/coded-error';
import { dutyRetryMs, dutyRetryMsMax } from '@ringwright/base/limits-copies';
import { PartialCopies } from '../copies/partial-copies.ts';
import { placeOf } from '../copies/place.ts';
import { Rest, type RestPorts } from '../copies/rest.ts';
import type { OnceComplete } from '../device/once-complete.ts';
import { retryAfterMs } from '../peers/retry-after.ts';
import { type Repair, refilled } from '../repair/repair.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import { chooseLoads, type LoadCandidate, loadLimits, type WaitReason } from './choose-loads.ts';
import type { KeyspaceWork, LoadAttempt } from './keyspace-work.ts';
import { type LoadPorts, type LoadTask, loadPartition } from './load-partition.ts';
import { type LoadProgress, startedLoad } from './load-progress.ts';
import type { MoveControls } from './move-controls.ts';
import type { DutyStep } from './plan-duties.ts';
import { type LoadReceipt, receiptOfLoad } from './receipt-of-load.ts';

export type LoadStep = Extract<DutyStep, { kind: 'load' | 'refill' }>;

export interface LoadQueuePorts extends Omit<LoadPorts, 'partial'>, RestPorts {
  /** What operators have said of moves. */
  readonly controls: Pick<MoveControls, 'isPaused' | 'priority' | 'forceReason' | 'endForce'>;
  readonly onceComplete: OnceComplete;
  /** The line of a receipt, signed. */
  readonly signReceipt: (receipt: LoadReceipt) => string;
  readonly onError: (step: { kind: string; keyspace: string }, error: unknown) => void;
  readonly onRepair: (repair: Repair) => void;
  /** A load has ended, well or not: its file may serve now, or is to be offered again. */
  readonly onEnded: () => void;
}

interface Waiting extends LoadCandidate {
  readonly active: ActiveRing;
  readonly work: KeyspaceWork;
  readonly step: LoadStep;
  /** The device that is asked for the file first. */
  readonly sourceName: string;
  /** Aborted when nobody wants the load any more; the reason is a CodedError. */
  readonly stop: AbortController;
}

export class LoadQueue {
  readonly #ports: LoadQueuePorts;
  readonly #waiting = new Map<string, readonly Waiting[]>();
  readonly #running = new Set<Waiting>();
  readonly #partial = new PartialCopies();
  #timer: NodeJS.Timeout | undefined;
  readonly #rest: Rest;
  /** Sources that had no place for one more copy: none is asked for another before this time. */
  readonly #busyUntilMs = new Map<string, number>();
  #closed = false;

  constructor(ports: LoadQueuePorts) {
    this.#ports = ports;
    this.#rest = new Rest(ports);
  }

  /** What a review found to load of one keyspace takes the place of what waited, and may start. */
  offer(active: ActiveRing, work: KeyspaceWork, steps: readonly LoadStep[]): void {
    const { controls } = this.#ports;
    const waiting = steps.map((step) => ({
      ...candidateOf({ active, work, controls }, step),
      ...{ active, work, step, sourceName: sourceName(active, step) },
      stop: new AbortController(),
    }));
    this.#stopEnded(active);
    const wanted = new Map(waiting.map(({ partition, assignment }) => [partition, assignment]));
    void this.#partial.discardUnless(
      active.ring.keyspace,
      ({ partition, assignment }) => wanted.get(partition) === assignment,
    );
    this.#waiting.set(active.ring.keyspace, waiting);
    this.#fill();
  }

  /** Loads under way for these assignments end where they are, which is no failure. */
  stop(keyspace: string, assignments: ReadonlySet<number>, reason: CodedError): void {
    for (const { stop, assignment, keyspace: of, work, partition } of [
      ...this.#running,
      ...(this.#waiting.get(keyspace) ?? []),
    ]) {
      if (of !== keyspace || assignment === null || !assignments.has(assignment)) continue;
      work.attempts.delete(partition);
      stop.abort(reason);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#partial.close();
  }

  #fill(): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    const nowMs = this.#ports.monotonicMs();
    const candidates = [...this.#waiting.values()]
      .flat()
      // The review that offered them may have looked before their load ended.
      .filter(({ work, partition, assignment }) => work.loaded.get(partition) !== assignment)
      .map((waiting) => this.#resting(waiting));
    const running = [...this.#running].map(({ source }) => source);
    const rule = { loads: this.#ports.loadPace().loads, startAtMs: this.#rest.untilMs };
    const choice = chooseLoads(candidates, { running, limits: loadLimits, rule, nowMs });
    for (const { candidate, why } of choice.wait) showWaiting(candidate, why);
    for (const chosen of choice.start) void this.#run(chosen);
    if (choice.wakeAtMs === null) return;
    this.#timer = setTimeout(() => this.#fill(), choice.wakeAtMs - nowMs);
  }

  #resting(waiting: Waiting): Waiting {
    const untilMs = this.#busyUntilMs.get(waiting.sourceName) ?? 0;
    return untilMs > waiting.notBeforeMs ? { ...waiting, notBeforeMs: untilMs } : waiting;
  }

  /** A move that was cancelled must not go on filling the disk. */
  #stopEnded({ ring }: ActiveRing): void {
    const inFlight = new Set(ring.moves.map(({ assignment }) => assignment));
    const reason = new CodedError('MOVE_STOPPED', `version ${ring.version} has no such move`);
    for (const { keyspace, assignment, stop } of this.#running) {
      const ended = assignment !== null && !inFlight.has(assignment);
      if (keyspace === ring.keyspace && ended) stop.abort(reason);
    }
  }

  async #run(chosen: Waiting): Promise<void> {
    const { active, work, step, partition, keyspace, assignment } = chosen;
    const move = step.kind === 'load' ? step.move : null;
    const left = this.#waiting.get(keyspace)?.filter((one) => one.stop !== chosen.stop) ?? [];
    this.#waiting.set(keyspace, left);
    const onProgress = (change: Partial<LoadProgress>): void => {
      // Called for every chunk and every batch: here is where a load that was stopped ends.
      chosen.stop.signal.throwIfAborted();
      showProgress(chosen, change);
    };
    this.#running.add(chosen);
    work.running.add(partition);
    const begunMs = this.#ports.monotonicMs();
    try {
      onProgress({ stage: 'reserving', reason: '' });
      const ports = { ...this.#ports, partial: this.#partial };
      const isReturning = move !== null && (await this.#isReturning(chosen));
      const earlier = earlierOf(chosen);
      const forceReason = this.#ports.controls.forceReason(keyspace, partition, assignment);
      const isForced = forceReason !== null;
      const task = { active, partition, move, isReturning, isForced, earlier, onProgress };
      const loaded = await loadPartition(ports, task);
      chosen.stop.signal.throwIfAborted();
      // failpoint: load.before-ready
      if (move === null) {
        this.#ports.store.setState(keyspace, partition, 'ready');
        await this.#ports.controls.endForce(keyspace, partition);
        this.#ports.onRepair(refilled(keyspace, partition, loaded));
      } else {
        const info = this.#ports.store.info(keyspace, partition);
        const receipt = receiptOfLoad(active, move, { loaded, info, forceReason });
        work.receipts.set(move.assignment, this.#ports.signReceipt(receipt));
        work.loaded.set(partition, move.assignment);
      }
      work.attempts.delete(partition);
      showProgress(chosen, { stage: 'available', reason: '' });
    } catch (error) {
      this.#failed(chosen, error);
    } finally {
      this.#running.delete(chosen);
      work.running.delete(partition);
      this.#rest.after(begunMs);
      this.#fill();
      if (!this.#closed) this.#ports.onEnded();
    }
  }

  /**
   * Whether the file here was complete once. It lacks writes by now: until the table names this
   * device, and the old quorums are gone, it must not pass for a complete one.
   */
  async #isReturning({ keyspace, partition, stop }: Waiting): Promise<boolean> {
    const { store, onceComplete } = this.#ports;
    const held = store.info(keyspace, partition);
    if (held?.state === 'ready') {
      await onceComplete.note(held);
      stop.signal.throwIfAborted(); // by a ring that has no such move any more
      store.setState(keyspace, partition, 'filling');
    }
    return held !== null && onceComplete.has(held);
  }

  /**
   * Tried again after a pause that doubles, for as long as the ring asks for it. A busy source
   * and a cut are no failures: others go ahead meanwhile.
   */
  #failed(failed: Waiting, error: unknown): void {
    if (this.#closed) return;
    const { work, partition, assignment, keyspace, step, stop } = failed;
    if (stop.signal.aborted) {
      const { message } = stop.signal.reason as CodedError; // see stop()
      showProgress(failed, { stage: 'queued', reason: message, bytes: 0 });
      return;
    }
    const before = attemptOf(failed);
    const reason = error instanceof Error ? error.message : String(error);
    const code = error instanceof CodedError ? error.code : '';
    const isPassing = code === 'COPY_BUSY' || code === 'COPY_CUT';
    const nowMs = this.#ports.monotonicMs();
    const pauseMs = isPassing
      ? retryAfterMs(error, dutyRetryMs)
      : dutyRetryMs * 2 ** before.failures;
    const notBeforeMs = nowMs + Math.min(pauseMs, dutyRetryMsMax);
    if (code === 'COPY_BUSY') this.#busyUntilMs.set(failed.sourceName, notBeforeMs);
    work.attempts.set(partition, {
      assignment,
      failures: before.failures + (isPassing ? 0 : 1),
      sourceFaults: before.sourceFaults + (code === 'COPY_INVALID' ? 1 : 0),
      lacksRoom: code === 'DISK_FULL',
      notBeforeMs,
    });
    showProgress(failed, { stage: isPassing ? 'queued' : 'failed', reason });
    if (!isPassing) this.#ports.onError({ kind: step.kind, keyspace }, error);
  }
}

/** Of the same move: another one begins anew. */
function attemptOf({ work, partition, assignment }: Omit<Waiting, 'stop'>): LoadAttempt {
  const attempt = work.attempts.get(partition);
  if (attempt?.assignment === assignment) return attempt;
  return { assignment, failures: 0, sourceFaults: 0, lacksRoom: false, notBeforeMs: 0 };
}

function earlierOf(chosen: Waiting): NonNullable<LoadTask['earlier']> {
  const { sourceFaults, lacksRoom } = attemptOf(chosen);
  return { sourceFaults, bytes: lacksRoom ? chosen.bytes : null };
}

function candidateOf(
  { active, work, controls }: Pick<LoadQueuePorts, 'controls'> & Pick<Waiting, 'active' | 'work'>,
  step: LoadStep,
): LoadCandidate {
  const { partition } = step;
  const move = step.kind === 'load' ? step.move : null;
  const assignment = move?.assignment ?? null;
  const { keyspace } = active.ring;
  const attempt = work.attempts.get(partition);
  const bytes = work.progress.get(partition)?.bytesTotal ?? 0;
  return {
    keyspace,
    partition,
    assignment,
    source: placeOf(active.ring, move?.from ?? null),
    bytes: bytes === 0 ? null : bytes,
    priority: assignment === null ? 0 : controls.priority(keyspace, assignment),
    paused: assignment !== null && controls.isPaused(keyspace, assignment),
    notBeforeMs: attempt?.assignment === assignment ? attempt.notBeforeMs : 0,
  };
}

function sourceName({ ring }: ActiveRing, step: LoadStep): string {
  return `${ring.keyspace}/${step.kind === 'load' ? step.move.from : null}`;
}

/** Where the loads come from is named: several servers may share an address, and a zone. */
function waitText({ source }: Waiting, why: Exclude<WaitReason, 'resting'>): string {
  const { device, server, zone } = loadLimits;
  switch (why) {
    case 'paused':
      return 'paused by an operator';
    case 'device':
      return `${device} loads run here, the most at once`;
    case 'server':
      return `${server} loads from servers at ${source?.server} run here, the most at once`;
    case 'zone':
      return `${zone} loads from zone ${source?.zone} run here, the most at once`;
    case 'pace':
      return 'requests go first: fewer loads run';
  }
}

/** One that rests shows what its last attempt said. */
function showWaiting(waiting: Waiting, why: WaitReason): void {
  if (why === 'resting') return;
  const stage = why === 'paused' ? 'paused' : 'queued';
  showProgress(waiting, { stage, reason: waitText(waiting, why) });
}

function showProgress(
  { keyspace, partition, assignment, work }: Waiting,
  change: Partial<LoadProgress>,
): void {
  const before = work.progress.get(partition) ?? startedLoad({ keyspace, partition, assignment });
  // Most of the thousands that wait have said so before.
  const { stage, reason } = change;
  if (stage === 'queued' && before.stage === stage && before.reason === reason) return;
  work.progress.set(partition, { ...before, assignment, ...change });
}
