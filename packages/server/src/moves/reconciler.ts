// Carries out the duties of this device: opens, loads, serves and drains partition files until they
// match the rings.
import type { CodedError } from '@ringwright/base/coded-error';
import { filesCreatedAtOnce } from '@ringwright/base/limits-copies';
import { mapConcurrent } from '@ringwright/base/map-concurrent';
import { damagedOf, heldQuarantines, replaceDamaged } from '../repair/replace-damaged.ts';
import { type ActiveRing, activeDuties } from '../rings/active-ring.ts';
import { DrainQueue, type DrainQueuePorts } from './drain-queue.ts';
import type { ShownDrops } from './drop-guard.ts';
import type { LoadProgress, LoadStep } from './load-notes.ts';
import { LoadQueue, type LoadQueuePorts } from './load-queue.ts';
import { MoveCompletion } from './move-completion.ts';
import { type OpenPorts, openPartitions } from './open-partitions.ts';
import { type FailedStep, Passes, type Retry } from './passes.ts';
import { planDuties } from './plan-duties.ts';
import { Takeovers } from './takeovers.ts';

export interface ReconcilerPorts
  extends DrainQueuePorts,
    OpenPorts,
    Pick<LoadQueuePorts, 'controls' | 'signReceipt' | 'throttle'> {
  readonly onError: (step: FailedStep, error: unknown) => void;
  /** Called when a file went to the trash because the ring gives its partition to other devices. */
  readonly onDropped: (keyspace: string, partition: number) => void;
}

export interface HeldDrops {
  readonly drops: number;
  readonly quarantines: number;
}

export class Reconciler {
  readonly #ports: ReconcilerPorts;
  readonly #passes: Passes;
  /** By keyspace: number of damaged files that an operator has released although they are many. */
  readonly #quarantinesConfirmed = new Map<string, number>();
  readonly #loads: LoadQueue;
  readonly #drains: DrainQueue;
  readonly #takeovers: Takeovers;
  readonly #completion: MoveCompletion;
  /** Id of the ring of the last pass, by keyspace. */
  readonly #lastRingIds = new Map<string, string>();

  constructor(ports: ReconcilerPorts) {
    this.#ports = ports;
    const { onError, monotonicMs } = ports;
    const run = async (keyspace: string): Promise<void> => {
      this.#completion.look(); // the ring may be a new one
      await this.#pass(keyspace);
      this.#completion.look();
    };
    this.#passes = new Passes({ run, onError, monotonicMs });
    this.#completion = new MoveCompletion({
      version: (keyspace) => ports.current(keyspace).ring.version,
      isComplete: (keyspace) => this.#isComplete(keyspace),
    });
    const onEnded = (keyspace: string): void => {
      this.#passes.beginSoon(keyspace);
      this.#completion.look();
    };
    const onFailed = (kind: string) => (keyspace: string, error: unknown, retry: Partial<Retry>) =>
      this.#passes.failed({ kind, keyspace }, error, retry);
    this.#loads = new LoadQueue({
      ...ports,
      onEnded: (keyspace, outcome) => {
        if (outcome === 'failed') this.#passes.retry(keyspace);
        onEnded(keyspace);
      },
    });
    this.#takeovers = new Takeovers(ports, {
      onServing: (keyspace, partition) => this.#loads.forgetLoaded(keyspace, partition),
      onFailed: onFailed('serve'),
      onEnded: (keyspace) => this.reconcile(keyspace),
    });
    this.#drains = new DrainQueue(ports, {
      isBusy: (keyspace, partition) => this.#isFilling(keyspace, partition),
      onDropped: (keyspace, partition) => {
        this.#loads.forgetLoaded(keyspace, partition);
        this.#takeovers.forget(keyspace, partition);
        ports.held.noteHandedOver(keyspace, partition);
        ports.onDropped(keyspace, partition);
      },
      onFailed: onFailed('drain'),
      onEnded,
    });
  }

  /** Loads under way or ended, for the status. */
  progress(keyspace: string): LoadProgress[] {
    return [...this.#loads.view(keyspace).progress.values()];
  }

  /**
   * Returns the signed receipts of those moves that were loaded here since this process started.
   */
  receipts(keyspace: string, assignments: readonly number[]): string[] {
    const { loaded, receipts } = this.#loads.view(keyspace);
    const loadedIds = new Set(loaded.values());
    return assignments.flatMap((id) => (loadedIds.has(id) ? (receipts.get(id) ?? []) : []));
  }

  /**
   * Resolves to whether the moves of that version are complete here within `waitMs`. Throws
   * RING_UNKNOWN.
   */
  movesComplete(keyspace: string, version: number, waitMs: number): Promise<boolean> {
    return this.#completion.wait(keyspace, version, waitMs);
  }

  /** Ends loads under way. The next pass decides what becomes of them. */
  stopLoads(keyspace: string, assignments: ReadonlySet<number>, reason: CodedError): void {
    this.#loads.stop(keyspace, assignments, reason);
  }

  /**
   * Partitions that this device should give up, each with the reason why it has not done so yet.
   */
  draining(keyspace: string): ReadonlyMap<number, string> {
    return this.#drains.view(keyspace).reasons;
  }

  /**
   * Steps that fail and are retried, with the reason: a full disk, a holder that is unreachable.
   */
  failing(keyspace: string): ReturnType<Passes['failing']> {
    return this.#passes.failing(keyspace);
  }

  /** Counts what is not dropped or quarantined until an operator releases it. */
  held(keyspace: string): HeldDrops {
    const { guard, store, current } = this.#ports;
    const active = current(keyspace);
    return { drops: guard.heldCount(keyspace), quarantines: heldQuarantines(store, active) };
  }

  /** Releases what is held. Throws RING_UNKNOWN, DROPS_DIFFER. */
  async confirmDrops(keyspace: string, shown: ShownDrops): Promise<void> {
    const { guard, current } = this.#ports;
    const { quarantines } = this.held(keyspace);
    await guard.confirm(current(keyspace), shown, quarantines);
    this.#quarantinesConfirmed.set(keyspace, quarantines);
    this.reconcile(keyspace);
  }

  /**
   * Compares files and ring, and starts the steps needed. Called on activation and after every
   * step.
   */
  reconcile(keyspace: string): void {
    this.#passes.begin(keyspace);
  }

  /** See Passes.idle. All files that can be opened are open then. */
  idle(keyspace: string): Promise<void> {
    return this.#passes.idle(keyspace);
  }

  async close(): Promise<void> {
    this.#passes.close();
    this.#drains.close();
    this.#takeovers.close();
    this.#completion.close();
    await this.#loads.close();
  }

  async #pass(keyspace: string): Promise<void> {
    const active = this.#ports.current(keyspace);
    await this.#replaceDamaged(active);
    const { store, held } = this.#ports;
    const infos = store.list(keyspace);
    const states = new Map(infos.map(({ partition, state }) => [partition, state]));
    const onNoteFailed = (error: unknown): void =>
      this.#passes.failed({ kind: 'note', keyspace }, error);
    await held.follow(active, states).catch(onNoteFailed);
    this.#prepareCopies(active);
    store.children.endMirror(keyspace);
    this.#loads.forgetEnded(active);
    this.#drains.forgetEnded(active);
    this.#takeovers.remember(active);
    const { loaded } = this.#loads.view(keyspace);
    const damaged = damagedOf(store, keyspace);
    const steps = planDuties(active, { states, loaded }).filter(
      ({ partition }) => !damaged.has(partition),
    );
    const opens = steps.flatMap((step) => (step.kind === 'open' ? [step.partition] : []));
    if (opens.length > 0) await this.#open(active, opens);
    const partitions = steps.flatMap((step) => (step.kind === 'drain' ? [step.partition] : []));
    // First, because files that go make room for those that come.
    await this.#drains.offer(active, { infos, partitions });
    const serves: number[] = [];
    const loads: LoadStep[] = [];
    const accepts: number[] = [];
    for (const step of steps) {
      const isDrained = this.#drains.view(keyspace).running.has(step.partition);
      if (isDrained || this.#isFilling(keyspace, step.partition)) continue;
      if (step.kind === 'serve') serves.push(step.partition);
      else if (step.kind === 'load' || step.kind === 'refill') loads.push(step);
      else if (step.kind === 'accept') accepts.push(step.partition);
    }
    await mapConcurrent(accepts, filesCreatedAtOnce, (one) => this.#accept(keyspace, one));
    this.#loads.offer(active, loads);
    if (serves.length > 0) void this.#takeovers.serve(active, serves, loaded);
    this.#lastRingIds.set(keyspace, active.id);
  }

  #prepareCopies({ ring: { moves }, self }: ActiveRing): void {
    if (self === null) return; // `from` of a move may be null
    const [gives, takes] = [
      moves.some(({ from }) => from === self),
      moves.some(({ to }) => to === self),
    ];
    this.#ports.store.copies.prepare({ gives, takes });
  }

  async #replaceDamaged(active: ActiveRing): Promise<void> {
    const { store, onRepair } = this.#ports;
    const { keyspace } = active.ring;
    const confirmed = this.#quarantinesConfirmed.get(keyspace) ?? 0;
    const isBusy = (partition: number): boolean => this.#isFilling(keyspace, partition);
    for (const partition of damagedOf(store, keyspace)) this.#loads.forget(keyspace, partition);
    try {
      await replaceDamaged(store, active, { confirmed, isBusy, onRepair });
    } catch (error) {
      this.#passes.failed({ kind: 'replace', keyspace }, error);
    }
  }

  /** A failure here must not hold the others back: a drain may free the disk that is full. */
  async #open(active: ActiveRing, partitions: readonly number[]): Promise<void> {
    const { keyspace } = active.ring;
    try {
      const undecided = await openPartitions(this.#ports, active, partitions);
      if (undecided.length > 0) this.#passes.retry(keyspace);
      if (undecided.length < partitions.length) this.reconcile(keyspace);
    } catch (error) {
      this.#passes.failed({ kind: 'open', keyspace }, error);
    }
  }

  /** See #open. */
  async #accept(keyspace: string, partition: number): Promise<void> {
    try {
      await this.#ports.store.create(keyspace, partition, 'filling');
      this.reconcile(keyspace);
    } catch (error) {
      this.#passes.failed({ kind: 'accept', keyspace }, error);
    }
  }

  /**
   * Judges by what the last pass found. A pass that is due may find more. False before the first
   * pass.
   */
  #isComplete(keyspace: string): boolean {
    const { controls, current } = this.#ports;
    const active = current(keyspace);
    const { loaded, running } = this.#loads.view(keyspace);
    if (this.#lastRingIds.get(keyspace) !== active.id || running.size > 0) return false;
    if (this.#drains.view(keyspace).reasons.size > 0) return false;
    return activeDuties(active).load.every(
      ({ state, partition, assignment }) =>
        state !== 'INITIALIZING' ||
        loaded.get(partition) === assignment ||
        controls.isPaused(keyspace, assignment),
    );
  }

  /** Whether a load or a takeover of the partition runs. */
  #isFilling(keyspace: string, partition: number): boolean {
    const { running } = this.#loads.view(keyspace);
    return running.has(partition) || this.#takeovers.running(keyspace).has(partition);
  }
}
