// Runs the duties of this device: opens, loads, serves and drains partition files until they are
// what the rings say.
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import { CodedError } from '@ringwright/base/coded-error';
import { inWaves } from '@ringwright/base/in-waves';
import { dutyRetryMs, filesCreatedAtOnce } from '@ringwright/base/limits-copies';
import { damagedOf, heldQuarantines, replaceDamaged } from '../repair/replace-damaged.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import { confirmTakeover, rememberFormer, unknownSlots } from './confirm-takeover.ts';
import { DrainQueue, type DrainQueuePorts } from './drain-queue.ts';
import type { ShownDrops } from './drop-brake.ts';
import { forgetEnded, type KeyspaceWork, newWork } from './keyspace-work.ts';
import type { LoadProgress } from './load-progress.ts';
import { LoadQueue, type LoadQueuePorts, type LoadStep } from './load-queue.ts';
import { type OpenPorts, openPartitions } from './open-partitions.ts';
import { planDuties } from './plan-duties.ts';

export interface MoverPorts
  extends DrainQueuePorts,
    OpenPorts,
    Pick<LoadQueuePorts, 'controls' | 'signReceipt' | 'throttle'> {
  readonly onError: (step: FailedStep, error: unknown) => void;
}

export interface HeldDrops {
  readonly drops: number;
  readonly quarantines: number;
}

interface FailedStep {
  readonly kind: string;
  readonly keyspace: string;
}

export class Mover {
  readonly #ports: MoverPorts;
  readonly #work = new Map<string, KeyspaceWork>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #loads: LoadQueue;
  readonly #drains: DrainQueue;
  #closed = false;

  constructor(ports: MoverPorts) {
    this.#ports = ports;
    const onEnded = (): void => {
      for (const keyspace of this.#work.keys()) this.#reviewSoon(keyspace);
    };
    this.#loads = new LoadQueue({ ...ports, onEnded });
    this.#drains = new DrainQueue(ports, {
      onFailed: (keyspace, error, release) =>
        this.#failed({ kind: 'drain', keyspace }, error, release),
      onEnded,
    });
  }

  /** Loads under way or ended, for the status. */
  progress(keyspace: string): LoadProgress[] {
    return [...this.#of(keyspace).progress.values()];
  }

  /** The signed receipt of a move that is loaded here, as far as this life knows. */
  receipt(keyspace: string, assignment: number): string | null {
    const { loaded, receipts } = this.#of(keyspace);
    const isLoaded = [...loaded.values()].includes(assignment);
    return isLoaded ? (receipts.get(assignment) ?? null) : null;
  }

  /** Ends loads under way; what becomes of them, the next review says. */
  stopLoads(keyspace: string, assignments: ReadonlySet<number>, reason: CodedError): void {
    this.#loads.stop(keyspace, assignments, reason);
  }

  /** Partitions that this device should give up, with why it has not yet. */
  draining(keyspace: string): ReadonlyMap<number, string> {
    return this.#of(keyspace).draining;
  }

  /** Steps that fail and are tried again, with why: a full disk, a holder that is away. */
  failing(keyspace: string): { step: string; reason: string }[] {
    return [...this.#of(keyspace).failing].map(([step, reason]) => ({ step, reason }));
  }

  /** What is not dropped, and not quarantined, until an operator lets it go. */
  held(keyspace: string): HeldDrops {
    const { brake, store, current } = this.#ports;
    const active = current(keyspace);
    return { drops: brake.heldCount(keyspace), quarantines: heldQuarantines(store, active) };
  }

  /** Lets go what is held. Throws RING_UNKNOWN, DROPS_DIFFER. */
  async confirmDrops(keyspace: string, shown: ShownDrops): Promise<void> {
    const { brake, current } = this.#ports;
    const { quarantines } = this.held(keyspace);
    await brake.confirm(current(keyspace), shown, quarantines);
    this.#of(keyspace).quarantinesConfirmed = quarantines;
    this.review(keyspace);
  }

  /**
   * Compares files and ring and starts what is to do. Called on activation and after every step.
   */
  review(keyspace: string): void {
    const work = this.#of(keyspace);
    work.again = true;
    if (work.review !== null || this.#closed) return;
    work.review = this.#reviewLoop(keyspace, work).finally(() => {
      work.review = null;
    });
  }

  /**
   * After a load or a drain. A review looks at every partition: with thousands of both they may
   * take a tenth of the time, no more.
   */
  #reviewSoon(keyspace: string): void {
    const work = this.#of(keyspace);
    if (work.isReviewDue || this.#closed) return;
    work.isReviewDue = true;
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        work.isReviewDue = false;
        this.review(keyspace);
      },
      Math.min(9 * work.reviewMs, dutyRetryMs),
    );
    this.#timers.add(timer);
  }

  /** Resolves when no review runs: then the files that can be opened are open. */
  async settled(keyspace: string): Promise<void> {
    await this.#of(keyspace).review;
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#drains.close();
    await this.#loads.close();
  }

  async #reviewLoop(keyspace: string, work: KeyspaceWork): Promise<void> {
    while (work.again && !this.#closed) {
      work.again = false;
      const begunMs = this.#ports.monotonicMs();
      try {
        await this.#reviewOnce(keyspace, work);
      } catch (error) {
        this.#failed({ kind: 'review', keyspace }, error);
      }
      work.reviewMs = this.#ports.monotonicMs() - begunMs;
    }
  }

  async #reviewOnce(keyspace: string, work: KeyspaceWork): Promise<void> {
    const active = this.#ports.current(keyspace);
    work.failing.clear();
    await this.#replaceDamaged(active, work);
    const { store, held } = this.#ports;
    const infos = store.list().filter((info) => info.keyspace === keyspace);
    const states = new Map(infos.map(({ partition, state }) => [partition, state]));
    const onNoteFailed = (error: unknown): void => this.#failed({ kind: 'note', keyspace }, error);
    await held.follow(active, states).catch(onNoteFailed);
    const { ring, self } = active;
    if (self !== null && ring.moves.some(({ from }) => from === self)) store.prepareSnapshots();
    forgetEnded(active, work);
    rememberFormer(active, work.former);
    const damaged = damagedOf(store, keyspace);
    const steps = planDuties(active, { states, loaded: work.loaded }).filter(
      ({ partition }) => !damaged.has(partition),
    );
    const opens = steps.flatMap((step) => (step.kind === 'open' ? [step.partition] : []));
    if (opens.length > 0) {
      const undecided = await openPartitions(this.#ports, active, opens);
      if (undecided.length > 0) this.#retry(keyspace);
      if (undecided.length < opens.length) work.again = true;
    }
    const partitions = steps.flatMap((step) => (step.kind === 'drain' ? [step.partition] : []));
    // First: what goes makes room for what comes.
    await this.#drains.offer(active, work, { infos, partitions });
    const serves: number[] = [];
    const loads: LoadStep[] = [];
    const accepts: number[] = [];
    for (const step of steps) {
      if (work.running.has(step.partition)) continue;
      if (step.kind === 'serve') serves.push(step.partition);
      else if (step.kind === 'load' || step.kind === 'refill') loads.push(step);
      else if (step.kind === 'accept') accepts.push(step.partition);
    }
    await inWaves(accepts, filesCreatedAtOnce, (one) => this.#accept(keyspace, work, one));
    this.#loads.offer(active, work, loads);
    if (serves.length > 0) void this.#serve(active, work, serves);
  }

  async #replaceDamaged(active: ActiveRing, work: KeyspaceWork): Promise<void> {
    const { store, onRepair } = this.#ports;
    const rule = { confirmed: work.quarantinesConfirmed, onRepair };
    try {
      for (const partition of await replaceDamaged(store, active, rule)) {
        const { loaded, progress, attempts } = work;
        for (const noted of [loaded, progress, attempts]) noted.delete(partition);
      }
    } catch (error) {
      this.#failed({ kind: 'replace', keyspace: active.ring.keyspace }, error);
    }
  }

  /** One that fails does not keep the others back: a drain may free the disk that is full. */
  async #accept(keyspace: string, work: KeyspaceWork, partition: number): Promise<void> {
    try {
      await this.#ports.store.create(keyspace, partition, 'filling');
      work.again = true;
    } catch (error) {
      this.#failed({ kind: 'accept', keyspace }, error);
    }
  }

  /** Loaded partitions that the table names now: complete once the old quorums are gone. */
  async #serve(active: ActiveRing, work: KeyspaceWork, partitions: number[]): Promise<void> {
    const { keyspace } = active.ring;
    for (const partition of partitions) work.running.add(partition);
    const release = (): void => {
      for (const partition of partitions) work.running.delete(partition);
    };
    try {
      const { controls, devices } = this.#ports;
      // The devices that do not answer are gone, an operator has said.
      const isForced = (partition: number): boolean =>
        controls.forceReason(keyspace, partition, work.loaded.get(partition) ?? null) !== null;
      const former = new Map(
        partitions
          .filter((partition) => !isForced(partition))
          .map((partition) => [partition, work.former.get(partition) ?? unknownSlots]),
      );
      const confirmed = await confirmTakeover(devices, active, former);
      const safe = [...confirmed, ...partitions.filter(isForced)];
      // failpoint: takeover.confirmed
      for (const partition of safe) {
        if (this.#closed || this.#ports.current(keyspace) !== active) break;
        const begunMs = this.#ports.monotonicMs();
        this.#ports.store.setState(keyspace, partition, 'ready');
        const tookMs = this.#ports.monotonicMs() - begunMs;
        this.#ports.onceComplete.forget(keyspace, partition);
        work.loaded.delete(partition);
        work.former.delete(partition);
        await controls.endForce(keyspace, partition);
        // Each state is synced: requests have their turns in between, and as long.
        await (this.#ports.loadPace().restTimes > 0 ? delay(tookMs) : setImmediate());
      }
      if (safe.length < partitions.length) {
        const open = partitions.length - safe.length;
        const message = `${open} partitions wait: a quorum of devices may have the old ring`;
        throw new CodedError('SERVERS_NOT_CONFIRMED', message);
      }
      release();
      this.review(keyspace);
    } catch (error) {
      this.#failed({ kind: 'serve', keyspace }, error, release);
    }
  }

  /** Whatever failed is tried again after a pause, for as long as the ring asks for it. */
  #failed(step: FailedStep, error: unknown, release: () => void = () => undefined): void {
    if (this.#closed) return;
    this.#ports.onError(step, error);
    const reason = error instanceof Error ? error.message : String(error);
    this.#of(step.keyspace).failing.set(step.kind, reason);
    this.#retry(step.keyspace, release);
  }

  /**
   * One for all failures: were each followed by a review of its own, and each partition failed in
   * it again, as on a full disk, they would multiply until memory ends.
   */
  #retry(keyspace: string, release: () => void = () => undefined): void {
    if (this.#closed) return;
    const work = this.#of(keyspace);
    if (work.releases !== null) {
      work.releases.push(release);
      return;
    }
    work.releases = [release];
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      for (const letGo of work.releases ?? []) letGo();
      work.releases = null;
      this.review(keyspace);
    }, dutyRetryMs);
    this.#timers.add(timer);
  }

  #of(keyspace: string): KeyspaceWork {
    const known = this.#work.get(keyspace);
    if (known !== undefined) return known;
    const work = newWork();
    this.#work.set(keyspace, work);
    return work;
  }
}
