// The files that this device gives up: those that are held back, those that wait, and those being
// drained.
import { hasCode } from '@ringwright/base/coded-error';
import { getOrMake } from '@ringwright/base/get-or-make';
import {
  drainRetryMsMin,
  drainsHeldBackMax,
  drainsMax,
  drainsPerLoad,
  dutyRetryMs,
} from '@ringwright/base/limits-copies';
import { messageOf } from '@ringwright/base/thrown';
import type { PartitionInfo } from '@ringwright/partition/file/partition-info';
import { Cooldown, type CooldownPorts } from '../copies/throttle-control.ts';
import type { OnceComplete } from '../device/once-complete.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import { type DrainPorts, drainPartition } from './drain-partition.ts';
import type { DropGuard } from './drop-guard.ts';
import type { Retry } from './passes.ts';
import { isSurplus } from './plan-duties.ts';

export interface DrainQueuePorts extends DrainPorts, CooldownPorts {
  readonly guard: DropGuard;
  /** The address of this server. */
  readonly address: string;
  /** Why the ring names the key of this server, but not its address or name; null: it does not. */
  readonly whyUnnamed: (active: ActiveRing) => string | null;
  readonly onceComplete: OnceComplete;
  /** Tells the throttle that a drain has run. */
  readonly onDrainEnded: () => void;
}

interface Listener {
  /** Whether a load or a takeover of the partition runs. */
  readonly isBusy: (keyspace: string, partition: number) => boolean;
  readonly onDropped: (keyspace: string, partition: number) => void;
  readonly onFailed: (keyspace: string, error: unknown, retry: Partial<Retry>) => void;
  readonly onEnded: (keyspace: string) => void;
}

interface Waiting {
  readonly active: ActiveRing;
  readonly notes: DrainNotes;
  readonly partition: number;
}

/** Notes about one keyspace, kept while this process runs. */
interface DrainNotes {
  /** Why drains have not ended yet, by partition. */
  readonly reasons: Map<number, string>;
  /** How often each drain has failed, by partition. */
  readonly failures: Map<number, number>;
  /** Partitions whose drain runs, or waits to run again after a failure. */
  readonly running: Set<number>;
}

interface DrainsView {
  readonly reasons: ReadonlyMap<number, string>;
  readonly failures: ReadonlyMap<number, number>;
  readonly running: ReadonlySet<number>;
}

export class DrainQueue {
  readonly #ports: DrainQueuePorts;
  readonly #listener: Listener;
  readonly #notes = new Map<string, DrainNotes>();
  /** By keyspace, as offered by the last pass. */
  readonly #waiting = new Map<string, Waiting[]>();
  #running = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #cooldown: Cooldown;
  #closed = false;

  constructor(ports: DrainQueuePorts, listener: Listener) {
    this.#ports = ports;
    this.#listener = listener;
    this.#cooldown = new Cooldown(ports);
  }

  /**
   * Starts draining those of `partitions` that may go. Called in every pass, so that the guard sees
   * each ring whose moves explain later drops. `infos`: all files of the keyspace.
   */
  async offer(
    active: ActiveRing,
    {
      infos,
      partitions,
    }: {
      readonly infos: readonly PartitionInfo[];
      readonly partitions: readonly number[];
    },
  ): Promise<void> {
    const whyHeld = await this.#judge(active, infos);
    const { keyspace } = active.ring;
    const notes = this.#notesOf(keyspace);
    const waiting: Waiting[] = [];
    for (const partition of partitions) {
      if (this.#isBusy({ active, notes, partition })) continue;
      const reason = whyHeld(partition);
      notes.reasons.set(partition, reason ?? `${drainsMax} others are drained first`);
      if (reason === null) waiting.push({ active, notes, partition });
    }
    const drainable = new Set(waiting.map(({ partition }) => partition));
    const complete = infos.filter((one) => one.state === 'ready' && drainable.has(one.partition));
    // If this fails, as on a full disk, each drain notes its own file, or reports why it cannot.
    await this.#ports.onceComplete.note(complete).catch(() => undefined);
    const sorted = waiting.sort((a, b) => failuresOf(a) - failuresOf(b));
    this.#waiting.set(keyspace, sorted);
    this.#fill();
  }

  #fill(): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    const { leftMs } = this.#cooldown;
    if (leftMs > 0) {
      this.#timer = setTimeout(() => this.#fill(), leftMs);
      return;
    }
    const { loads } = this.#ports.loadThrottle();
    const limit = loads === null ? drainsMax : Math.min(drainsHeldBackMax, loads * drainsPerLoad);
    while (this.#running < limit) {
      const next = this.#next();
      if (next === undefined) return;
      if (!this.#isBusy(next)) void this.#drain(next);
    }
  }

  /**
   * Returns the drain with the fewest failures, from all keyspaces, so that drains which wait for a
   * dead device do not hold others back.
   */
  #next(): Waiting | undefined {
    const lists = [...this.#waiting.values()].filter(({ length }) => length > 0);
    const failures = ([first]: readonly Waiting[]): number => (first ? failuresOf(first) : 0);
    return lists.sort((a, b) => failures(a) - failures(b))[0]?.shift();
  }

  view(keyspace: string): DrainsView {
    return this.#notesOf(keyspace);
  }

  /** Forgets partitions that the ring no longer gives to other devices. */
  forgetEnded(active: ActiveRing): void {
    const { reasons, failures } = this.#notesOf(active.ring.keyspace);
    for (const map of [reasons, failures]) {
      for (const partition of map.keys()) {
        if (!isSurplus(active, partition)) map.delete(partition);
      }
    }
  }

  /** Waiting files stay where they are. */
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
      const heldPartitions = await this.#ports.guard.judge(active, infos);
      const reason = this.#whyHeld(active, { held: heldPartitions.size, files: infos.length });
      return (partition) => (heldPartitions.has(partition) ? reason : null);
    } catch (error) {
      this.#listener.onFailed(keyspace, error, {});
      const reason = messageOf(error);
      return () => reason;
    }
  }

  #whyHeld(
    active: ActiveRing,
    { held, files }: { readonly held: number; readonly files: number },
  ): string {
    const { ring, self } = active;
    const { keyspace, version } = ring;
    const confirm = `ring-builder trash ${keyspace} confirm`;
    if (self === null) {
      // The files belong to a device of the ring: the command that drops them is not named.
      const unnamedReason = this.#ports.whyUnnamed(active);
      if (unnamedReason !== null) return `held: ${unnamedReason}`;
      const why = `held: version ${version} of ring '${keyspace}' does not name this server`;
      return `${why}; ${confirm} --to ${this.#ports.address} lets it drop its ${held} files`;
    }
    return `held: ${held} of ${files} files would be dropped without a move; ${confirm} lets it drop them`;
  }

  #isBusy({ active, notes, partition }: Waiting): boolean {
    return notes.running.has(partition) || this.#listener.isBusy(active.ring.keyspace, partition);
  }

  #notesOf(keyspace: string): DrainNotes {
    const none = () => ({ reasons: new Map(), failures: new Map(), running: new Set<number>() });
    return getOrMake(this.#notes, keyspace, none);
  }

  async #drain({ active, notes, partition }: Waiting): Promise<void> {
    const release = (): void => void notes.running.delete(partition);
    this.#running += 1;
    notes.running.add(partition);
    notes.reasons.set(partition, 'offering records to the holders');
    const { keyspace } = active.ring;
    const startedMs = this.#ports.monotonicMs();
    try {
      const info = this.#ports.store.info(keyspace, partition);
      if (info?.state === 'ready') await this.#ports.onceComplete.note([info]);
      await drainPartition(this.#ports, { active, partition });
      for (const map of [notes.reasons, notes.failures]) map.delete(partition);
      this.#listener.onDropped(keyspace, partition);
      this.#ports.onceComplete.forget(keyspace, partition);
      release();
    } catch (error) {
      notes.reasons.set(partition, whyNot(error));
      const failures = failuresOf({ notes, partition });
      notes.failures.set(partition, failures + 1);
      const pauseMs = Math.min(drainRetryMsMin * 2 ** failures, dutyRetryMs);
      this.#listener.onFailed(keyspace, error, { release, pauseMs });
    } finally {
      this.#running -= 1;
      this.#cooldown.after(startedMs);
      this.#ports.onDrainEnded();
      this.#fill();
      this.#listener.onEnded(keyspace);
    }
  }
}

/**
 * Adds the hint to CALLER_UNPROVEN: other servers report it about this one, and it can be fixed
 * only here.
 */
function whyNot(error: unknown): string {
  const message = messageOf(error);
  return hasCode(error, 'CALLER_UNPROVEN') ? `${message}; ${error.hint}` : message;
}

function failuresOf({ notes, partition }: Pick<Waiting, 'notes' | 'partition'>): number {
  return notes.failures.get(partition) ?? 0;
}
