// The partitions a store holds, found by keyspace and number, and which of them have changed.
import type { Partition } from './partition.ts';

interface Keyspace {
  readonly partitions: Map<number, Partition>;
  /** Numbers of those that got records, another state or another file. */
  touched: Set<number>;
}

export class Registry {
  readonly #keyspaces = new Map<string, Keyspace>();
  readonly #leaving = new Set<Partition>();

  get(keyspace: string, partition: number): Partition | undefined {
    return this.#keyspaces.get(keyspace)?.partitions.get(partition);
  }

  add(partition: Partition): void {
    const { keyspace } = partition;
    const existing = this.#keyspaces.get(keyspace) ?? { partitions: new Map(), touched: new Set() };
    this.#keyspaces.set(keyspace, existing);
    existing.partitions.set(partition.partition, partition);
    this.touch(partition);
  }

  /** It is not found from here on. A crash may still find its file, so the log stays. */
  leave(partition: Partition): void {
    this.#keyspaces.get(partition.keyspace)?.partitions.delete(partition.partition);
    this.#leaving.add(partition);
  }

  /** No crash finds its file any more. */
  left(partition: Partition): void {
    this.#leaving.delete(partition);
  }

  /** It has other records, another state or another file than before. */
  touch({ keyspace, partition }: Partition): void {
    this.#keyspaces.get(keyspace)?.touched.add(partition);
  }

  /** Those that were touched since this was asked the last time. */
  takeTouched(keyspace: string): ReadonlySet<number> {
    const found = this.#keyspaces.get(keyspace);
    const touched = found?.touched ?? new Set<number>();
    if (found !== undefined) found.touched = new Set();
    return touched;
  }

  *all(): IterableIterator<Partition> {
    for (const { partitions } of this.#keyspaces.values()) yield* partitions.values();
  }

  /** Those whose writes the log must keep until they are in synced files. */
  *needingLog(): IterableIterator<Partition> {
    yield* this.all();
    yield* this.#leaving;
  }
}
