// once-complete.json: which incomplete files here were complete when a ring took their partitions
// away. If such a partition comes back, only what the file missed has to travel.
import { join } from 'node:path';
import type { PartitionInfo } from '@ringwright/partition/file/partition-info';
import { z } from 'zod';
import { LatestState, readState } from './state-file.ts';

type FileRef = Pick<PartitionInfo, 'keyspace' | 'partition' | 'incarnation'>;

const notesSchema = z.record(z.string(), z.string());

/** Notes are by incarnation: a note about a file does not apply to its successor. */
export class OnceComplete {
  /** Incarnations by `keyspace/partition`. */
  readonly #notes: Map<string, string>;
  readonly #state: LatestState<typeof notesSchema>;
  /** Number of notes that were ever added, and how many of these are on disk. */
  #added = 0;
  #saved = 0;

  private constructor(file: string, notes: Map<string, string>) {
    this.#notes = notes;
    this.#state = new LatestState(file, notesSchema, () => Object.fromEntries(notes));
  }

  /** Throws DISK_FAILED when the notes cannot be read. */
  static async load(directory: string): Promise<OnceComplete> {
    const file = join(directory, 'once-complete.json');
    const notes = await readState(file, notesSchema);
    return new OnceComplete(file, new Map(Object.entries(notes ?? {})));
  }

  has(held: FileRef): boolean {
    return this.#notes.get(nameOf(held)) === held.incarnation;
  }

  /**
   * Durable when it resolves: to be called before the files count as incomplete. The notes are
   * written as one file, so many are added at once; one that exists already costs nothing.
   */
  async note(files: readonly FileRef[]): Promise<void> {
    for (const held of files.filter((one) => !this.has(one))) {
      this.#notes.set(nameOf(held), held.incarnation);
      this.#added += 1;
    }
    const added = this.#added;
    if (this.#saved === added) return;
    await this.#state.save();
    this.#saved = Math.max(this.#saved, added);
  }

  /**
   * Drops the notes of files that are not among `files`. A removed note reaches the disk only with
   * the next note, so a server that was killed before would otherwise keep it forever.
   */
  keep(files: readonly FileRef[]): void {
    const keptNames = new Set(files.filter((held) => this.has(held)).map(nameOf));
    for (const name of this.#notes.keys()) if (!keptNames.has(name)) this.#notes.delete(name);
  }

  /**
   * To be called when the file is complete again, or gone. Not saved at once: a note about an old
   * file does no harm.
   */
  forget(keyspace: string, partition: number): void {
    this.#notes.delete(nameOf({ keyspace, partition }));
  }
}

function nameOf({ keyspace, partition }: Pick<FileRef, 'keyspace' | 'partition'>): string {
  return `${keyspace}/${partition}`;
}
