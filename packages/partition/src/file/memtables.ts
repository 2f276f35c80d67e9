// Decides when the memtables of a store are flushed to their files.
import type { OpenFiles } from './open-files.ts';
import { noteDamage, type Partition } from './partition.ts';

interface MemtableLimits {
  readonly memtableRowsMax: number;
  readonly memtableBytesMax: number;
  readonly memtablesBytesMax: number;
}

/** So many times a long memtable may wait for a checkpoint: its flush then takes ~50 ms of a turn. */
const LONG_MEMTABLES_WAITING = 2;

/** A flush would wait for the disk until the checkpoint under way has ended. */
function mayWait({ file }: Partition): boolean {
  return file?.wal.isAside === true;
}

/**
 * A partition is flushed when its memtable is long, and the one that waits longest when all of them
 * together take too much: so a transaction has many rows, which is what makes a row cheap.
 */
export class Memtables {
  readonly #files: Pick<OpenFiles, 'use'>;
  readonly #limits: MemtableLimits;
  /** Bytes at the last look, the longest waiting first. */
  readonly #waiting = new Map<Partition, number>();
  #bytes = 0;

  constructor(files: Pick<OpenFiles, 'use'>, limits: MemtableLimits) {
    this.#files = files;
    this.#limits = limits;
  }

  /** Flushes what is due after writes to these partitions; returns them and what else it flushed. */
  afterWrites(touched: Iterable<Partition>): Set<Partition> {
    const { memtableRowsMax, memtableBytesMax, memtablesBytesMax } = this.#limits;
    const changed = new Set(touched);
    for (const partition of changed) {
      const { size = 0, bytes = 0 } = partition.file?.pending ?? {};
      this.#bytes += bytes - (this.#waiting.get(partition) ?? 0);
      this.#waiting.set(partition, bytes);
      const isLong = size >= memtableRowsMax || bytes >= memtableBytesMax;
      const isTooLong = bytes >= memtableBytesMax * LONG_MEMTABLES_WAITING;
      if (isTooLong || (isLong && !mayWait(partition))) this.#flush(partition);
    }
    for (const [partition] of this.#waiting) {
      if (this.#bytes <= memtablesBytesMax) break;
      if (mayWait(partition)) continue;
      this.#flush(partition);
      changed.add(partition);
    }
    return changed;
  }

  /** A file that is closed, or was asked for all its rows, has been flushed already. */
  #flush(partition: Partition): void {
    this.#bytes -= this.#waiting.get(partition) ?? 0;
    this.#waiting.delete(partition);
    try {
      if (partition.damage !== null || partition.file === null) return;
      this.#files.use(partition).flush();
    } catch (error) {
      noteDamage(partition, error);
    }
  }
}
