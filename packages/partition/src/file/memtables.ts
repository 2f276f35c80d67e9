// Decides when the memtables of a store are flushed to their files.
import type { OpenFiles } from './open-files.ts';
import { noteDamage, type Partition } from './partition.ts';

interface MemtableLimits {
  readonly memtableRowsMax: number;
  readonly memtableBytesMax: number;
  readonly memtablesBytesMax: number;
}

/**
 * How many times its limit a memtable may grow while a checkpoint runs: its flush then takes ~50 ms
 * of a turn.
 */
const LONG_MEMTABLES_WAITING = 2;

/** Whether a flush would have to wait for the disk until the running checkpoint ends. */
function mayWait({ file }: Partition): boolean {
  return file?.wal.isAside === true;
}

/**
 * Flushes a partition when its memtable is long, and the one that has waited longest when all
 * memtables together are too large. So a transaction has many rows, which makes each row cheap.
 */
export class Memtables {
  readonly #files: Pick<OpenFiles, 'use'>;
  readonly #limits: MemtableLimits;
  /** Memtable bytes at the last check, longest waiting first. */
  readonly #bytesByPartition = new Map<Partition, number>();
  #bytes = 0;

  constructor(files: Pick<OpenFiles, 'use'>, limits: MemtableLimits) {
    this.#files = files;
    this.#limits = limits;
  }

  /** Flushes what is due after writes to these partitions. Returns these and others it flushed. */
  afterWrites(touched: Iterable<Partition>): Set<Partition> {
    const { memtableRowsMax, memtableBytesMax, memtablesBytesMax } = this.#limits;
    const changed = new Set(touched);
    for (const partition of changed) {
      const { size = 0, bytes = 0 } = partition.file?.pending ?? {};
      this.#bytes += bytes - (this.#bytesByPartition.get(partition) ?? 0);
      this.#bytesByPartition.set(partition, bytes);
      const isLong = size >= memtableRowsMax || bytes >= memtableBytesMax;
      const isTooLong = bytes >= memtableBytesMax * LONG_MEMTABLES_WAITING;
      if (isTooLong || (isLong && !mayWait(partition))) this.flush(partition);
    }
    for (const [partition] of this.#bytesByPartition) {
      if (this.#bytes <= memtablesBytesMax) break;
      if (mayWait(partition)) continue;
      this.flush(partition);
      changed.add(partition);
    }
    return changed;
  }

  /**
   * A file that was closed, or asked for all its rows, has been flushed already. A damaged file is
   * marked.
   */
  flush(partition: Partition): void {
    this.#bytes -= this.#bytesByPartition.get(partition) ?? 0;
    this.#bytesByPartition.delete(partition);
    try {
      if (partition.damage !== null || partition.file === null) return;
      this.#files.use(partition).flush();
    } catch (error) {
      noteDamage(partition, error);
    }
  }
}
