// Takes over loaded partitions that the table now names: they count as complete once no quorum of
// an older ring is left.
import { setImmediate } from 'node:timers/promises';
import { CodedError } from '@ringwright/base/coded-error';
import { getOrMake } from '@ringwright/base/get-or-make';
import type { ActiveRing } from '../rings/active-ring.ts';
import {
  confirmTakeover,
  type FormerSlots,
  rememberFormer,
  unknownSlots,
} from './confirm-takeover.ts';
import type { LoadQueuePorts } from './load-queue.ts';
import type { Retry } from './passes.ts';

interface TakeoverPorts
  extends Pick<LoadQueuePorts, 'store' | 'devices' | 'controls' | 'onceComplete'> {
  readonly current: (keyspace: string) => ActiveRing;
}

/** Log entries written in one turn. No file is opened for them. */
const TAKEN_OVER_AT_ONCE = 128;

interface Listener {
  /** Called for a partition that is complete from now on. */
  readonly onServing: (keyspace: string, partition: number) => void;
  readonly onFailed: (keyspace: string, error: unknown, retry: Partial<Retry>) => void;
  /** Called when all partitions of a call of `serve` are complete. */
  readonly onEnded: (keyspace: string) => void;
}

interface Notes {
  /** Slots of the partitions that this device joins, as its rings have shown them. */
  readonly former: Map<number, FormerSlots>;
  /** Partitions being taken over, and those that wait for a retry after a failure. */
  readonly running: Set<number>;
  /** The last ring whose slots `former` has. */
  remembered: ActiveRing | null;
}

export class Takeovers {
  readonly #ports: TakeoverPorts;
  readonly #listener: Listener;
  readonly #notes = new Map<string, Notes>();
  #closed = false;

  constructor(ports: TakeoverPorts, listener: Listener) {
    this.#ports = ports;
    this.#listener = listener;
  }

  /** To be called with each ring that is activated; again with the same one, it does nothing. */
  remember(active: ActiveRing): void {
    const notes = this.#notesOf(active.ring.keyspace);
    if (notes.remembered === active) return;
    rememberFormer(active, notes.former);
    notes.remembered = active;
  }

  running(keyspace: string): ReadonlySet<number> {
    return this.#notesOf(keyspace).running;
  }

  forget(keyspace: string, partition: number): void {
    this.#notesOf(keyspace).former.delete(partition);
  }

  close(): void {
    this.#closed = true;
  }

  /** `loaded`: assignment ids by partition. */
  async serve(
    active: ActiveRing,
    partitions: readonly number[],
    loaded: ReadonlyMap<number, number>,
  ): Promise<void> {
    const { keyspace } = active.ring;
    const { running, former } = this.#notesOf(keyspace);
    for (const partition of partitions) running.add(partition);
    const release = (): void => {
      for (const partition of partitions) running.delete(partition);
    };
    try {
      const { controls, devices } = this.#ports;
      // An operator has said that the devices which do not answer are gone.
      const isForced = (partition: number): boolean =>
        controls.forceReason(keyspace, partition, loaded.get(partition) ?? null) !== null;
      const formerByPartition = new Map(
        partitions
          .filter((partition) => !isForced(partition))
          .map((partition) => [partition, former.get(partition) ?? unknownSlots]),
      );
      const confirmed = await confirmTakeover(devices, active, formerByPartition);
      const safe = [...confirmed, ...partitions.filter(isForced)];
      // failpoint: takeover.confirmed
      await this.#markReady(active, safe);
      if (safe.length < partitions.length) {
        const open = partitions.length - safe.length;
        const message = `${open} partitions wait: a quorum of devices may still have the old ring`;
        throw new CodedError('SERVERS_NOT_CONFIRMED', message);
      }
      release();
      this.#listener.onEnded(keyspace);
    } catch (error) {
      this.#listener.onFailed(keyspace, error, { release });
    }
  }

  async #markReady(active: ActiveRing, partitions: readonly number[]): Promise<void> {
    const { store, controls, onceComplete, current } = this.#ports;
    const { keyspace } = active.ring;
    for (let start = 0; start < partitions.length; start += TAKEN_OVER_AT_ONCE) {
      if (this.#closed || current(keyspace) !== active) break;
      const batch = partitions.slice(start, start + TAKEN_OVER_AT_ONCE);
      // One log entry per partition, all in one sync.
      const served = batch.map(async (partition) => {
        await store.setState(keyspace, partition, 'ready');
        onceComplete.forget(keyspace, partition);
        this.forget(keyspace, partition);
        this.#listener.onServing(keyspace, partition);
        await controls.endForce(keyspace, partition);
      });
      await Promise.all(served);
      await setImmediate();
    }
  }

  #notesOf(keyspace: string): Notes {
    return getOrMake<string, Notes>(this.#notes, keyspace, () => ({
      ...{ former: new Map(), running: new Set(), remembered: null },
    }));
  }
}
