// The partitions that have no file yet, stored as lines appended to one file of the data directory.
// A line means that the log has everything the partition ever received.
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { replaceOwnFile } from '@ringwright/node/durable-files';
import { nullIfMissing } from '@ringwright/node/missing-file';
import {
  dataPaths,
  isIncarnation,
  isKeyspace,
  type PartitionRef,
  partitionName,
} from './data-paths.ts';
import { type FileIdentity, identityOf, whyLost } from './file-identity.ts';
import { type PartitionState, partitionStates } from './partition-info.ts';

export interface EmptyPartition extends PartitionRef {
  /** Also the incarnation of its first file. */
  readonly life: string;
  readonly state: PartitionState;
}

/** Obsolete lines allowed in the file; with more of them it is rewritten. */
const STALE_LINES_MAX = 4_096;

/** Created by readEmptyPartitions. Lines that arrive during a write are written together next. */
export class EmptyPartitions {
  readonly #file: string;
  readonly #known: Map<string, EmptyPartition>;
  /** Null: the whole file must be written before a line can be appended. */
  #handle: FileHandle | null = null;
  #seen: FileIdentity | null = null;
  #linesInFile = 0;
  #waiting: string[] = [];
  #next: Promise<void> | null = null;
  #running: Promise<void> = Promise.resolve();

  constructor(file: string, known: Map<string, EmptyPartition>) {
    this.#file = file;
    this.#known = known;
  }

  get(place: PartitionRef): EmptyPartition | undefined {
    return this.#known.get(partitionName(place));
  }

  all(): EmptyPartition[] {
    return [...this.#known.values()];
  }

  /** Adds a partition, or sets a new state of a known one. Durable when it resolves. */
  put(entry: EmptyPartition): Promise<void> {
    this.#known.set(partitionName(entry), entry);
    return this.#append(emptyLine(entry));
  }

  /**
   * Called when the partition's own file counts from now on, or the partition is gone. Durable when
   * it resolves.
   */
  async remove(place: PartitionRef): Promise<void> {
    if (this.#known.delete(partitionName(place))) await this.#append(goneLine(place));
  }

  /**
   * Rewrites the file if it was deleted or changed from outside. Resolves to what was wrong, or
   * null.
   */
  async mend(): Promise<string | null> {
    await this.#running;
    const why = this.#handle === null ? null : whyLost(this.#file, this.#seen);
    if (why === null) return null;
    await this.#leaveFile();
    await this.#append('');
    return why;
  }

  /** Waits for writes in progress and queued. */
  async close(): Promise<void> {
    await (this.#next ?? this.#running);
    await this.#leaveFile();
  }

  #append(line: string): Promise<void> {
    this.#waiting.push(line);
    this.#next ??= this.#writeAfter(this.#running);
    return this.#next;
  }

  async #writeAfter(before: Promise<void>): Promise<void> {
    await before;
    this.#running = this.#next ?? before;
    this.#next = null;
    const lines = this.#waiting;
    this.#waiting = [];
    const stale = this.#linesInFile + lines.length - this.#known.size;
    // failpoint: empty.before-write
    if (this.#handle === null || stale > STALE_LINES_MAX) await this.#writeAll();
    else await this.#add(lines);
  }

  async #add(lines: readonly string[]): Promise<void> {
    await this.#handle?.appendFile(lines.join(''));
    await this.#handle?.datasync();
    this.#seen = identityOf(this.#file);
    this.#linesInFile += lines.length;
  }

  async #writeAll(): Promise<void> {
    await this.#leaveFile();
    const lines = this.all().map(emptyLine);
    await replaceOwnFile(this.#file, Buffer.from(lines.join('')));
    this.#handle = await open(this.#file, 'a');
    this.#seen = identityOf(this.#file);
    this.#linesInFile = lines.length;
  }

  async #leaveFile(): Promise<void> {
    const handle = this.#handle;
    this.#handle = null;
    await handle?.close();
  }
}

/**
 * The last line of each partition counts. A line with a wrong checksum is ignored. A line that a
 * crash cut was never acknowledged. If a line is damaged, at worst the partition counts as absent,
 * or its finished folder exists beside the line, and the folder wins.
 */
export async function readEmptyPartitions(root: string): Promise<EmptyPartitions> {
  const file = dataPaths.emptyPartitions(root);
  const text = (await readFile(file, 'latin1').catch(nullIfMissing)) ?? '';
  const known = new Map<string, EmptyPartition>();
  for (const line of text.split('\n')) {
    const fields = checkedFields(line);
    const [keyspace = '', number = '', life = '', state] = fields ?? [];
    const place = { keyspace, partition: Number(number) };
    if (!isKeyspace(keyspace) || !/^\d{1,9}$/.test(number)) continue;
    const knownState = partitionStates.find((one) => one === state);
    if (state === undefined) known.delete(partitionName(place));
    else if (knownState !== undefined && isIncarnation(life)) {
      known.set(partitionName(place), { ...place, life, state: knownState });
    }
  }
  return new EmptyPartitions(file, known);
}

// keyspace | partition | life | state | CRC32 of the text before it, in hex. A line without life
// and state means that the partition is no longer empty.
function emptyLine({ keyspace, partition, life, state }: EmptyPartition): string {
  return checkedLine(`${keyspace} ${partition} ${life} ${state}`);
}

function goneLine({ keyspace, partition }: PartitionRef): string {
  return checkedLine(`${keyspace} ${partition}`);
}

function checkedLine(text: string): string {
  return `${text} ${crc32(text).toString(16)}\n`;
}

function checkedFields(line: string): string[] | null {
  const end = line.lastIndexOf(' ');
  const text = line.slice(0, Math.max(end, 0));
  return crc32(text).toString(16) === line.slice(end + 1) ? text.split(' ') : null;
}
