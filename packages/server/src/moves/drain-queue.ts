// The files that this device gives up: those that are held back, and those under way.
import { drainsMax } from '@ringwright/base/limits-copies';
import type { PartitionInfo } from '@ringwright/partition/file/partition-info';
import { Rest, type RestPorts } from '../copies/rest.ts';
import type { OnceComplete } from '../device/once-complete.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import { type DrainPorts, drainPartition } from './drain-partition.ts';
import type { DropBrake } from './drop-brake.ts';
import type { KeyspaceWork } from './keyspace-work.ts';

export interface DrainQueuePorts extends DrainPorts, RestPorts {
  readonly brake: DropBrake;
  readonly onceComplete: OnceComplete;
  /** Tells the pace that there was some. */
  readonly onGivenUp: () => void;
}

interface Told {
  /** `release` is to be called before it is tried again. */
  readonly onFailed: (keyspace: string, error: unknown, release: () => void) => void;
  readonly onEnded: () => void;
}

interface Waiting {
  readonly active: ActiveRing;
  readonly work: KeyspaceWork;
  readonly partition: number;
}

export class DrainQueue {
  readonly #ports: DrainQueuePorts;
  readonly #told: Told;
  /** By keyspace, as the last review offered them. */
  readonly #waiting = new Map<string, Waiting[]>();
  #running = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #rest: Rest;
  #closed = false;

  constructor(ports: DrainQueuePorts, told: Told) {
    this.#ports = ports;
    this.#told = told;
    this.#rest = new Rest(ports);
  }

  /**
   * Starts what may go of `partitions`. Called at every review, so that the brake has seen each
   * ring whose moves explain later drops. `infos`: all files of the keyspace.
   */
  async offer(
    active: ActiveRing,
    work: KeyspaceWork,
    {
      infos,
      partitions,
    }: {
      readonly infos: readonly PartitionInfo[];
      readonly partitions: readonly number[];
    },
  ): Promise<void> {
    const whyHeld = await this.#judge(active, infos);
    const waiting: Waiting[] = [];
    for (const partition of partitions) {
      if (work.running.has(partition)) continue;
      const reason = whyHeld(partition);
      work.draining.set(partition, reason ?? `${drainsMax} others are given up first`);
      if (reason === null) waiting.push({ active, work, partition });
    }
    const sorted = waiting.sort((a, b) => failuresOf(a) - failuresOf(b));
    this.#waiting.set(active.ring.keyspace, sorted);
    this.#fill();
  }

  #fill(): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    const { leftMs } = this.#rest;
    if (leftMs > 0) {
      this.#timer = setTimeout(() => this.#fill(), leftMs);
      return;
    }
    const most = Math.min(drainsMax, this.#ports.loadPace().loads ?? drainsMax);
    while (this.#running < most) {
      const next = this.#next();
      if (next === undefined) return;
      if (!next.work.running.has(next.partition)) void this.#drain(next);
    }
  }

  /** Of all keyspaces one that failed least: those that wait for a dead device keep none back. */
  #next(): Waiting | undefined {
    const lists = [...this.#waiting.values()].filter(({ length }) => length > 0);
    const failures = ([first]: readonly Waiting[]): number => (first ? failuresOf(first) : 0);
    return lists.sort((a, b) => failures(a) - failures(b))[0]?.shift();
  }

  /** What waits stays where it is. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#waiting.clear();
  }

  async #judge(
    active: ActiveRing,
    infos: readonly PartitionInfo[],
  ): Promise<(partition: number) => string | null> {
    const { keyspace } = active.ring;
    try {
      const held = await this.#ports.brake.judge(active, infos);
      const what = `held: ${held.size} of ${infos.length} partitions would go without a move`;
      const reason = `${what}; ring-builder trash ${keyspace} confirm lets them go`;
      return (partition) => (held.has(partition) ? reason : null);
    } catch (error) {
      this.#told.onFailed(keyspace, error, () => undefined);
      const reason = error instanceof Error ? error.message : String(error);
      return () => reason;
    }
  }

  async #drain({ active, work, partition }: Waiting): Promise<void> {
    const release = (): void => void work.running.delete(partition);
    this.#running += 1;
    work.running.add(partition);
    work.draining.set(partition, 'offering records to the holders');
    const { keyspace } = active.ring;
    const begunMs = this.#ports.monotonicMs();
    try {
      const held = this.#ports.store.info(keyspace, partition);
      if (held?.state === 'ready') await this.#ports.onceComplete.note(held);
      await drainPartition(this.#ports, { active, partition });
      const { draining, drainFailures, loaded, former } = work;
      for (const noted of [draining, drainFailures, loaded, former]) noted.delete(partition);
      this.#ports.onceComplete.forget(keyspace, partition);
      release();
    } catch (error) {
      work.draining.set(partition, error instanceof Error ? error.message : String(error));
      work.drainFailures.set(partition, failuresOf({ work, partition }) + 1);
      this.#told.onFailed(keyspace, error, release);
    } finally {
      this.#running -= 1;
      this.#rest.after(begunMs);
      this.#ports.onGivenUp();
      this.#fill();
      this.#told.onEnded();
    }
  }
}

function failuresOf({ work, partition }: Pick<Waiting, 'work' | 'partition'>): number {
  return work.drainFailures.get(partition) ?? 0;
}
