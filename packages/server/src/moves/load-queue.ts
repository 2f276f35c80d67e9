// The loads of this device: waiting ones, running ones, and the results of earlier attempts.
import { CodedError } from '@ringwright/base/coded-error';
import { getOrMake } from '@ringwright/base/get-or-make';
import { dutyRetryMs, dutyRetryMsMax } from '@ringwright/base/limits-copies';
import { messageOf } from '@ringwright/base/thrown';
import { retryAfterMs } from '../copies/copy-task.ts';
import { PartialCopies } from '../copies/partial-copies.ts';
import { Cooldown, type CooldownPorts } from '../copies/throttle-control.ts';
import type { OnceComplete } from '../device/once-complete.ts';
import { usableInfo } from '../peers/holdings.ts';
import { type Repair, refilled } from '../repair/repair-sentence.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import { type BusySource, byUrgency, chooseLoads, loadLimits, whyWait } from './choose-loads.ts';
import {
  attemptOf,
  candidateOf,
  earlierOf,
  forgetEndedLoads,
  type LoadNotes,
  type LoadProgress,
  type LoadStep,
  type LoadsView,
  lackedRoom,
  newLoadNotes,
  showProgress,
  showStopped,
  showWaiting,
  type WaitingLoad,
} from './load-notes.ts';
import { type LoadReceipt, loadPartition, receiptOfLoad } from './load-partition.ts';
import type { LoadPorts } from './load-task.ts';
import type { MoveControls } from './move-controls.ts';

export interface LoadQueuePorts extends Omit<LoadPorts, 'partial'>, CooldownPorts {
  /** The operator's controls of moves. */
  readonly controls: Pick<MoveControls, 'isPaused' | 'priority' | 'forceReason' | 'endForce'>;
  readonly onceComplete: OnceComplete;
  readonly signReceipt: (receipt: LoadReceipt) => string;
  readonly onError: (step: { kind: string; keyspace: string }, error: unknown) => void;
  readonly onRepair: (repair: Repair) => void;
  /** Called when a load has ended: its file may serve now; `failed`: it must be offered again. */
  readonly onEnded: (keyspace: string, outcome: 'loaded' | 'failed') => void;
}

interface RunningLoad extends WaitingLoad {
  /** Aborted when the load is not wanted any more; the reason is a CodedError. */
  readonly stop: AbortController;
}

export class LoadQueue {
  readonly #ports: LoadQueuePorts;
  readonly #notes = new Map<string, LoadNotes>();
  /** By keyspace and source, sorted by urgency. */
  readonly #waiting = new Map<string, ReadonlyMap<string, WaitingLoad[]>>();
  readonly #running = new Set<RunningLoad>();
  readonly #partial = new PartialCopies();
  #timer: NodeJS.Timeout | undefined;
  readonly #cooldown: Cooldown;
  /** By the name of the source. An expired entry stays until the next refusal. */
  readonly #busy = new Map<string, BusySource>();
  #closed = false;

  constructor(ports: LoadQueuePorts) {
    this.#ports = ports;
    this.#cooldown = new Cooldown(ports);
  }

  /**
   * Replaces the waiting loads of one keyspace by those that a pass found, and starts what may
   * start.
   */
  offer(active: ActiveRing, steps: readonly LoadStep[]): void {
    const { controls } = this.#ports;
    const notes = this.#notesOf(active.ring.keyspace);
    const offered = steps.map((step) => ({
      ...candidateOf({ active, notes, controls }, step),
      ...{ active, notes, step },
    }));
    this.#stopEnded(active);
    const offeredIds = new Map(offered.map(({ partition, assignment }) => [partition, assignment]));
    void this.#partial.discardUnless(
      active.ring.keyspace,
      ({ partition, assignment }) => offeredIds.get(partition) === assignment,
    );
    // The pass may have looked before a load began or ended.
    const isOpen = ({ keyspace, partition, assignment }: WaitingLoad): boolean => {
      if (notes.running.has(partition)) return false;
      if (assignment !== null) return notes.loaded.get(partition) !== assignment;
      return usableInfo(this.#ports.store, keyspace, partition)?.state !== 'ready';
    };
    this.#wait(active.ring.keyspace, offered.filter(isOpen));
    this.#fill();
    this.#noteWaits(active.ring.keyspace);
  }

  /**
   * Ends running loads of these assignments, which is no failure. Removes waiting ones until a pass
   * offers them again.
   */
  stop(keyspace: string, assignments: ReadonlySet<number>, reason: CodedError): void {
    const isTarget = ({ assignment, keyspace: of }: WaitingLoad): boolean =>
      of === keyspace && assignment !== null && assignments.has(assignment);
    const lists = this.#waiting.get(keyspace)?.values() ?? [];
    const waiting = Map.groupBy([...lists].flat(), isTarget);
    this.#wait(keyspace, waiting.get(false) ?? []);
    for (const load of waiting.get(true) ?? []) {
      load.notes.attempts.delete(load.partition);
      showStopped(load, reason);
    }
    for (const { stop, notes, partition } of [...this.#running].filter(isTarget)) {
      notes.attempts.delete(partition);
      stop.abort(reason);
    }
  }

  view(keyspace: string): LoadsView {
    return this.#notesOf(keyspace);
  }

  /** Forgets moves that the ring no longer lists. */
  forgetEnded(active: ActiveRing): void {
    forgetEndedLoads(active, this.#notesOf(active.ring.keyspace));
  }

  /** To be called when the partition serves, or when its file is dropped. */
  forgetLoaded(keyspace: string, partition: number): void {
    this.#notesOf(keyspace).loaded.delete(partition);
  }

  /** To be called when the file is damaged: what was loaded is gone. Ends a running load. */
  forget(keyspace: string, partition: number): void {
    const { loaded, progress, attempts } = this.#notesOf(keyspace);
    for (const map of [loaded, progress, attempts]) map.delete(partition);
    const message = `the file of partition ${partition} was found damaged`;
    const reason = new CodedError('PARTITION_DAMAGED', message);
    for (const { stop, ...load } of this.#running) {
      if (load.keyspace === keyspace && load.partition === partition) stop.abort(reason);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#partial.close();
  }

  #notesOf(keyspace: string): LoadNotes {
    return getOrMake(this.#notes, keyspace, newLoadNotes);
  }

  #wait(keyspace: string, loads: WaitingLoad[]): void {
    const bySource = Map.groupBy(loads.sort(byUrgency), ({ sourceName }) => sourceName);
    this.#waiting.set(keyspace, bySource);
  }

  #fill(): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    const conditions = this.#conditions();
    const lists = [...this.#waiting.values()].flatMap((bySource) => [...bySource.values()]);
    const { start, wakeAtMs } = chooseLoads(lists, conditions);
    for (const chosen of start) void this.#run(chosen);
    if (wakeAtMs === null) return;
    this.#timer = setTimeout(() => this.#fill(), wakeAtMs - conditions.nowMs);
  }

  /** Notes why each waiting load of one keyspace waits: there may be hundreds of keyspaces. */
  #noteWaits(keyspace: string): void {
    const conditions = this.#conditions();
    for (const loads of this.#waiting.get(keyspace)?.values() ?? []) {
      for (const load of loads) {
        const why = whyWait(load, conditions);
        if (why !== null) showWaiting(load, why);
      }
    }
  }

  #conditions() {
    const rule = { loads: this.#ports.loadThrottle().loads, startAtMs: this.#cooldown.untilMs };
    const nowMs = this.#ports.monotonicMs();
    return { running: [...this.#running], limits: loadLimits, rule, busy: this.#busy, nowMs };
  }

  /** Stops loads whose move was canceled, so that they do not go on filling the disk. */
  #stopEnded({ ring }: ActiveRing): void {
    const inFlight = new Set(ring.moves.map(({ assignment }) => assignment));
    const reason = new CodedError('MOVE_STOPPED', `version ${ring.version} has no such move`);
    for (const { keyspace, assignment, stop } of this.#running) {
      const ended = assignment !== null && !inFlight.has(assignment);
      if (keyspace === ring.keyspace && ended) stop.abort(reason);
    }
  }

  async #run(candidate: WaitingLoad): Promise<void> {
    // Made here: a thousand waiting loads would make a thousand in each pass.
    const chosen: RunningLoad = { ...candidate, stop: new AbortController() };
    const { active, notes, step, partition, keyspace, assignment } = chosen;
    const move = step.kind === 'load' ? step.move : null;
    const waiting = this.#waiting.get(keyspace)?.get(chosen.sourceName) ?? [];
    const index = waiting.indexOf(candidate);
    if (index >= 0) waiting.splice(index, 1);
    const onProgress = (change: Partial<LoadProgress>): void => {
      // Called for every chunk and every batch: a stopped load ends here.
      chosen.stop.signal.throwIfAborted();
      showProgress(chosen, change);
    };
    this.#running.add(chosen);
    notes.running.add(partition);
    const startedMs = this.#ports.monotonicMs();
    let outcome: 'loaded' | 'failed' = 'loaded';
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
        await this.#ports.store.setState(keyspace, partition, 'ready');
        await this.#ports.controls.endForce(keyspace, partition);
        this.#ports.onRepair(refilled(keyspace, partition, loaded));
      } else {
        const info = this.#ports.store.info(keyspace, partition);
        const receipt = receiptOfLoad(active, move, { loaded, info, forceReason });
        notes.receipts.set(move.assignment, this.#ports.signReceipt(receipt));
        notes.loaded.set(partition, move.assignment);
      }
      notes.attempts.delete(partition);
      showProgress(chosen, { stage: 'available', reason: '' });
    } catch (error) {
      outcome = 'failed';
      this.#failed(chosen, error);
    } finally {
      this.#running.delete(chosen);
      notes.running.delete(partition);
      this.#cooldown.after(startedMs);
      this.#fill();
      if (!this.#closed) this.#ports.onEnded(keyspace, outcome);
    }
  }

  /**
   * Whether the file here was complete once. It lacks writes by now, so it is marked `filling`: it
   * must not pass for complete before the table names this device and the old quorums are gone.
   */
  async #isReturning({ keyspace, partition, stop }: RunningLoad): Promise<boolean> {
    const { store, onceComplete } = this.#ports;
    const info = store.info(keyspace, partition);
    if (info?.state === 'ready') {
      await onceComplete.note([info]);
      stop.signal.throwIfAborted(); // a ring without this move aborts it
      await store.setState(keyspace, partition, 'filling');
    }
    return info !== null && onceComplete.has(info);
  }

  /**
   * Plans the next attempt, as long as the ring asks for the load. The pause doubles with each
   * failure. A busy source and a cut copy do not count as failures: other loads go first meanwhile.
   */
  #failed(failed: RunningLoad, error: unknown): void {
    if (this.#closed) return;
    const { notes, partition, assignment, keyspace, step, stop } = failed;
    if (stop.signal.aborted) {
      showStopped(failed, stop.signal.reason as CodedError); // see stop()
      return;
    }
    const before = attemptOf(failed);
    const reason = messageOf(error);
    const code = error instanceof CodedError ? error.code : '';
    const isTemporary = code === 'COPY_BUSY' || code === 'COPY_CUT';
    const nowMs = this.#ports.monotonicMs();
    const pauseMs = isTemporary
      ? retryAfterMs(error, dutyRetryMs)
      : dutyRetryMs * 2 ** before.failures;
    const notBeforeMs = nowMs + Math.min(pauseMs, dutyRetryMsMax);
    const isBusy = code === 'COPY_BUSY';
    // A source that says when to ask again is in a cooldown, and not out of places.
    const hasTime = isBusy && retryAfterMs(error, 0) > 0;
    if (isBusy) {
      const { sourceName } = failed;
      const runningCount = [...this.#running].filter((one) => one.sourceName === sourceName).length;
      this.#busy.set(sourceName, { places: hasTime ? 0 : runningCount - 1, untilMs: notBeforeMs });
    }
    notes.attempts.set(partition, {
      assignment,
      failures: before.failures + (isTemporary ? 0 : 1),
      sourceFaults: before.sourceFaults + (code === 'COPY_INVALID' ? 1 : 0),
      lacksRoom: code === 'DISK_FULL',
      notBeforeMs: isBusy && !hasTime ? nowMs : notBeforeMs,
    });
    const stage = isTemporary ? 'queued' : 'failed';
    showProgress(failed, { stage, reason, room: lackedRoom(error) });
    if (!isTemporary) this.#ports.onError({ kind: step.kind, keyspace }, error);
  }
}
