// What the mover knows of its work for one keyspace. Plain data, of this life of the process.
import type { FormerSlots } from './confirm-takeover.ts';
import type { LoadProgress } from './load-progress.ts';

export interface KeyspaceWork {
  /** Assignment ids loaded in this life, by partition. */
  readonly loaded: Map<number, number>;
  readonly progress: Map<number, LoadProgress>;
  /** Slots of the partitions that this device joins, as its rings have shown them. */
  readonly former: Map<number, FormerSlots>;
  /** Partitions a load or drain runs for, or waits to run again after a failure. */
  readonly running: Set<number>;
  /** Why drains have not ended yet. */
  readonly draining: Map<number, string>;
  /** The review under way; null between reviews. */
  review: Promise<void> | null;
  again: boolean;
}

export function newWork(): KeyspaceWork {
  return {
    loaded: new Map(),
    progress: new Map(),
    former: new Map(),
    running: new Set(),
    draining: new Map(),
    review: null,
    again: false,
  };
}
