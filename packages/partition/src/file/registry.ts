// The partitions a store holds, found by keyspace and number.
import type { Partition } from './partition.ts';

export class Registry {
  readonly #keyspaces = new Map<string, Map<number, Partition>>();

  get(keyspace: string, partition: number): Partition | undefined {
    return this.#keyspaces.get(keyspace)?.get(partition);
  }

  add(partition: Partition): void {
    const existing = this.#keyspaces.get(partition.keyspace);
    if (existing !== undefined) existing.set(partition.partition, partition);
    else {
      this.#keyspaces.set(partition.keyspace, new Map([[partition.partition, partition]]));
    }
  }

  remove(partition: Partition): void {
    this.#keyspaces.get(partition.keyspace)?.delete(partition.partition);
  }

  *all(): IterableIterator<Partition> {
    for (const partitions of this.#keyspaces.values()) yield* partitions.values();
  }
}
