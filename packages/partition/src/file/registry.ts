// The partitions that a store holds, by keyspace and number, and which of them have changed.
import type { Partition } from './partition.ts';

interface Keyspace {
  readonly partitions: Map<number, Partition>;
  /** Numbers of partitions that got records, a new state or a new file. */
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

  /** Removes a partition from lookups. A crash may still bring its file back, so its log stays. */
  leave(partition: Partition): void {
    this.#keyspaces.get(partition.keyspace)?.partitions.delete(partition.partition);
    this.#leaving.add(partition);
  }

  /** Called when no crash can bring the partition's file back any more. */
  left(partition: Partition): void {
    this.#leaving.delete(partition);
  }

  /** Notes that a partition got records, a new state or a new file. */
  touch({ keyspace, partition }: Partition): void {
    this.#keyspaces.get(keyspace)?.touched.add(partition);
  }

  /** Returns the partitions touched since the last call. */
  takeTouched(keyspace: string): ReadonlySet<number> {
    const found = this.#keyspaces.get(keyspace);
    const touched = found?.touched ?? new Set<number>();
    if (found !== undefined) found.touched = new Set();
    return touched;
  }

  /** Returns the partitions in which an operation met damage since the last call. */
  takeSuspects(): readonly Partition[] {
    const found: Partition[] = [];
    for (const partition of this.all()) {
      if (!partition.isSuspect) continue;
      partition.isSuspect = false;
      found.push(partition);
    }
    return found;
  }

  /** All partitions, or those of one keyspace. */
  *all(of?: string): IterableIterator<Partition> {
    if (of !== undefined) yield* this.#keyspaces.get(of)?.partitions.values() ?? [];
    else for (const { partitions } of this.#keyspaces.values()) yield* partitions.values();
  }

  /** The partitions whose writes the log must keep until they are in synced files. */
  *needingLog(): IterableIterator<Partition> {
    yield* this.all();
    yield* this.#leaving;
  }
}
