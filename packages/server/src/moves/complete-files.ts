// held.json: the partitions of which this directory has had complete files. If the folder of one is
// gone when the server starts, the partition is lost. Without this note it would begin empty, as in
// a new cluster.
import { join } from 'node:path';
import { getOrMake } from '@ringwright/base/get-or-make';
import { KeyedMutex } from '@ringwright/node/keyed-mutex';
import type { PartitionRef } from '@ringwright/partition/file/data-paths';
import type { PartitionState } from '@ringwright/partition/file/partition-info';
import { partitionField } from '@ringwright/wire/fields';
import { z } from 'zod';
import { readState, writeState } from '../device/state-file.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import { isSurplus } from './plan-duties.ts';

const heldSchema = z.strictObject({
  format: z.literal(1),
  keyspaces: z.record(z.string(), z.array(partitionField)),
});

export class CompleteFiles {
  readonly #file: string;
  #held: ReadonlyMap<string, ReadonlySet<number>>;
  /** Partitions that went to the trash since the last pass, by keyspace. */
  readonly #givenUp = new Map<string, Set<number>>();
  readonly #turns = new KeyedMutex();

  private constructor(file: string, held: ReadonlyMap<string, ReadonlySet<number>>) {
    this.#file = file;
    this.#held = held;
  }

  static file(directory: string): string {
    return join(directory, 'held.json');
  }

  /** Throws DISK_FAILED when the notes cannot be read. */
  static async load(directory: string): Promise<CompleteFiles> {
    const file = CompleteFiles.file(directory);
    const { keyspaces = {} } = (await readState(file, heldSchema)) ?? {};
    const held = Object.entries(keyspaces).map(
      ([keyspace, partitions]) => [keyspace, new Set(partitions)] as const,
    );
    return new CompleteFiles(file, new Map(held));
  }

  has(keyspace: string, partition: number): boolean {
    return this.#held.get(keyspace)?.has(partition) === true;
  }

  list(): PartitionRef[] {
    return [...this.#held].flatMap(([keyspace, partitions]) =>
      [...partitions].map((partition) => ({ keyspace, partition })),
    );
  }

  /** To be called when every holder has the records of a file: its absence is then no loss. */
  noteHandedOver(keyspace: string, partition: number): void {
    getOrMake(this.#givenUp, keyspace, () => new Set()).add(partition);
  }

  /**
   * Notes what a pass found: files that are complete, and those that were drained. Durable when it
   * resolves. Writes do not wait for it. So if somebody deletes a folder just after it was made,
   * and the server is killed too, the partition counts as new.
   */
  follow(active: ActiveRing, states: ReadonlyMap<number, PartitionState>): Promise<void> {
    return this.#turns.run('held', () => this.#follow(active, states));
  }

  async #follow(active: ActiveRing, states: ReadonlyMap<number, PartitionState>): Promise<void> {
    const { keyspace } = active.ring;
    const held = this.#held.get(keyspace) ?? new Set();
    const ready = [...states].flatMap(([partition, state]) => (state === 'ready' ? partition : []));
    const added = ready.filter((partition) => !held.has(partition));
    const givenUp = this.#givenUp.get(keyspace);
    this.#givenUp.delete(keyspace);
    // A ring that does not name this device says nothing about files that are missing here.
    const isGivenUp = (partition: number): boolean =>
      active.self !== null || givenUp?.has(partition) === true;
    const isGone = (partition: number): boolean =>
      !states.has(partition) && isSurplus(active, partition) && isGivenUp(partition);
    const gone = new Set([...held].filter(isGone));
    if (added.length === 0 && gone.size === 0) return;
    const next = new Map(this.#held).set(keyspace, new Set([...held, ...added]).difference(gone));
    const keyspaces = Object.fromEntries([...next].map(([name, ids]) => [name, [...ids]]));
    await writeState(this.#file, heldSchema, { format: 1, keyspaces });
    this.#held = next;
  }
}
