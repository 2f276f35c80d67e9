// The partitions that have no file yet, stored as lines appended to one file of the data directory.
// A line means that the log has everything the partition ever received.
import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { replaceOwnFile, syncFile } from '@ringwright/node/durable-files';
import { nullIfMissing } from '@ringwright/node/missing-file';
import { readOwnFile } from '@ringwright/node/read-regular-file';
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
  readonly #partitions: Map<string, EmptyPartition>;
  /** Null: the whole file must be written before a line can be appended. */
  #handle: FileHandle | null = null;
  /** What the file must be; null: there is none. */
  #identity: FileIdentity | null;
  /** The file is lost, or has the rest of a failed write. */
  #mustRewrite = false;
  #linesInFile = 0;
  #pendingLines: string[] = [];
  #nextWrite: Promise<void> | null = null;
  #currentWrite: Promise<void> = Promise.resolve();

  constructor(file: string, partitions: Map<string, EmptyPartition>) {
    this.#file = file;
    this.#partitions = partitions;
    this.#identity = identityOf(file);
  }

  get(ref: PartitionRef): EmptyPartition | undefined {
    return this.#partitions.get(partitionName(ref));
  }

  all(): EmptyPartition[] {
    return [...this.#partitions.values()];
  }

  /** Called at a start: a killed process may have left lines that no sync has made durable. */
  async sync(): Promise<void> {
    if (this.#identity !== null) await syncFile(this.#file);
  }

  /** Adds a partition, or sets a new state of a known one. Durable when it resolves. */
  put(entry: EmptyPartition): Promise<void> {
    this.#partitions.set(partitionName(entry), entry);
    return this.#append(emptyLine(entry));
  }

  /**
   * Called when the partition's own file counts from now on, or the partition is gone. Durable when
   * it resolves.
   */
  async remove(ref: PartitionRef): Promise<void> {
    if (this.#partitions.delete(partitionName(ref))) await this.#append(goneLine(ref));
  }

  /**
   * Rewrites the file if it was deleted or changed from outside. Resolves to what was wrong, or
   * null. After an error the next call tries again.
   */
  async mend(): Promise<string | null> {
    await this.#currentWrite.catch(() => undefined);
    const reason = this.#identity === null ? null : whyLost(this.#file, this.#identity);
    if (reason === null) return null;
    this.#mustRewrite = true;
    await this.#append('');
    return reason;
  }

  /** Waits for writes in progress and queued; their callers got their errors. */
  async close(): Promise<void> {
    await (this.#nextWrite ?? this.#currentWrite).catch(() => undefined);
    await this.#leaveFile();
  }

  #append(line: string): Promise<void> {
    this.#pendingLines.push(line);
    this.#nextWrite ??= this.#writeAfter(this.#currentWrite);
    return this.#nextWrite;
  }

  async #writeAfter(previousWrite: Promise<void>): Promise<void> {
    // Its callers got its error.
    await previousWrite.catch(() => undefined);
    this.#currentWrite = this.#nextWrite ?? previousWrite;
    this.#nextWrite = null;
    const lines = this.#pendingLines;
    this.#pendingLines = [];
    const staleLines = this.#linesInFile + lines.length - this.#partitions.size;
    // failpoint: empty.before-write
    try {
      if (staleLines > STALE_LINES_MAX) await this.#writeAll();
      else await this.#add(lines);
    } catch (error) {
      this.#mustRewrite = true;
      throw error;
    }
  }

  async #add(lines: readonly string[]): Promise<void> {
    const [handle, known] = [this.#handle, this.#identity];
    if (handle === null || known === null || this.#mustRewrite) return this.#writeAll();
    const bytes = Buffer.from(lines.join(''));
    await handle.appendFile(bytes);
    await handle.datasync();
    // Not read from the file's name, which may lead to another file by now.
    this.#identity = { ...known, bytes: known.bytes + bytes.length };
    this.#linesInFile += lines.length;
  }

  async #writeAll(): Promise<void> {
    await this.#leaveFile();
    const lines = this.all().map(emptyLine);
    await replaceOwnFile(this.#file, Buffer.from(lines.join('')));
    this.#handle = await open(this.#file, 'a');
    this.#identity = identityOf(this.#file);
    this.#mustRewrite = false;
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
  const bytes = await readOwnFile(file).catch(nullIfMissing);
  const text = bytes?.toString('latin1') ?? '';
  const partitions = new Map<string, EmptyPartition>();
  for (const line of text.split('\n')) {
    const fields = checkedFields(line);
    const [keyspace = '', number = '', life = '', state] = fields ?? [];
    const ref = { keyspace, partition: Number(number) };
    if (!isKeyspace(keyspace) || !/^\d{1,9}$/.test(number)) continue;
    const knownState = partitionStates.find((one) => one === state);
    if (state === undefined) partitions.delete(partitionName(ref));
    else if (knownState !== undefined && isIncarnation(life)) {
      partitions.set(partitionName(ref), { ...ref, life, state: knownState });
    }
  }
  return new EmptyPartitions(file, partitions);
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
