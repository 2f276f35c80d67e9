// One partition file on its way to another server, read by the process beside the store.
import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { CodedError } from '@ringwright/base/coded-error';
import { copyHoldLookMs, copyHoldMsMax } from '@ringwright/base/limits-copies';
import { removeFiles } from '@ringwright/node/remove-files';
import type { CopyGate, CopyReport, FilePart } from '../carry/copy-work.ts';
import type { Partition } from '../file/partition.ts';
import type { PartitionFile } from '../file/partition-file.ts';
import type { PromisedRoom } from '../parts/disk-space.ts';
import type { StoreParts } from '../parts/store-parts.ts';
import { withFile } from '../parts/use-partition.ts';
import type { CopyDescription } from './copy-manifest.ts';
import { beginHold, endHold, touched } from './held-file.ts';

const TICKET_BYTES = 32;
const KEY_BYTES = 16;

/** A checkpoint is held back while the file is read; the number of those before tells. */
interface Hold {
  readonly file: PartitionFile;
  readonly checkpoints: number;
  readonly sinceMs: number;
  timer: NodeJS.Timeout;
}

/** Where a joiner's process gets the bytes. */
type CopyDoor = Omit<CopyGate, 'host'>;

/** Until it is released the process has the file open. */
export class GivenCopy {
  readonly description: CopyDescription;
  /** Of the keyed checksum: drawn here, and told only to who may have the copy. */
  readonly key = randomBytes(KEY_BYTES).toString('hex');
  readonly #parts: StoreParts;
  readonly #partition: Partition;
  readonly #order: ReturnType<StoreParts['carrier']['begin']>;
  readonly #checksum = Promise.withResolvers<string>();
  #hold: Hold | null;
  #aside: string | null = null;
  #room: PromisedRoom | null = null;
  /** Why no more of it can be given. */
  #failure: CodedError | null = null;
  #released = false;
  #sentBytes = 0;

  constructor(
    parts: StoreParts,
    partition: Partition,
    copied: {
      readonly description: CopyDescription;
      readonly files: readonly FilePart[];
      readonly file: PartitionFile;
    },
  ) {
    this.#parts = parts;
    this.#partition = partition;
    this.description = copied.description;
    this.#checksum.promise.catch(() => undefined); // told to whoever asks for it
    this.#hold = this.#begin(copied.file);
    try {
      this.#order = parts.carrier.begin({
        onReport: (report) => this.#hear(report),
        onLost: (error) => this.#fail(error),
      });
      this.#order({ kind: 'give', parts: copied.files, key: this.key });
    } catch (error) {
      this.#endHold();
      throw error;
    }
  }

  /** Grows while somebody reads. */
  get sentBytes(): number {
    return this.#sentBytes;
  }

  /**
   * For one connection, which gets the bytes from `offset` on. Throws MOVE_UNKNOWN when they cannot
   * be given any more, COPY_CUT when nobody could come in.
   */
  async door(offset: number): Promise<CopyDoor> {
    if (this.#failure !== null) {
      const options = { cause: this.#failure };
      throw new CodedError('MOVE_UNKNOWN', 'the copy is not given any more', options);
    }
    const port = await this.#parts.carrier.port();
    const ticket = randomBytes(TICKET_BYTES).toString('hex');
    const cipherKey = randomBytes(KEY_BYTES).toString('hex');
    this.#order({ kind: 'admit', ticket, offset, cipherKey });
    return { port, ticket, cipherKey };
  }

  /**
   * Resolves to the keyed checksum of all bytes when they have been read. Rejects with COPY_BUSY
   * when the file was written to before it was asked for, COPY_CUT when the process has ended.
   */
  async checksum(): Promise<string> {
    const checksum = await this.#checksum.promise;
    if (!this.#isUntouched()) this.#fail(touched(this.#partition));
    if (this.#failure !== null) throw this.#failure;
    return checksum;
  }

  /** Safe to repeat. */
  async release(): Promise<void> {
    if (this.#released) return;
    this.#released = true;
    this.#fail(new CodedError('MOVE_UNKNOWN', 'the copy is released'));
    this.#order({ kind: 'end' });
    this.#room?.release();
    if (this.#aside !== null) await removeFiles(this.#aside);
  }

  #begin(file: PartitionFile): Hold {
    beginHold(this.#partition);
    const timer = setInterval(() => this.#look(), copyHoldLookMs);
    timer.unref();
    return { file, checkpoints: file.wal.checkpoints, sinceMs: performance.now(), timer };
  }

  #hear(report: CopyReport): void {
    if (report.kind === 'sent') this.#sentBytes = report.bytes;
    else if (report.kind === 'given') {
      // All was sent. A joiner that was cut off before the end came may still ask for the rest.
      this.#checksum.resolve(report.checksum);
    } else if (report.kind === 'detached') {
      if (!this.#isUntouched()) this.#fail(touched(this.#partition));
      this.#endHold();
    } else if (report.kind === 'failed') this.#fail(new CodedError('COPY_CUT', report.message));
  }

  /** What was read came before any checkpoint. */
  #isUntouched(): boolean {
    const hold = this.#hold;
    if (hold === null) return true;
    return this.#partition.file === hold.file && hold.file.wal.checkpoints === hold.checkpoints;
  }

  /** Checkpoints must not wait long: the process then copies what is left aside. */
  #look(): void {
    const hold = this.#hold;
    if (hold === null || this.#aside !== null) return;
    if (!this.#isUntouched()) {
      this.#fail(touched(this.#partition));
      return;
    }
    const isLong = performance.now() - hold.sinceMs > copyHoldMsMax;
    if (!isLong && !hold.file.wal.exceeds(this.#parts.limits.walBytesMax)) return;
    this.#aside = this.#parts.stagingPath('given');
    void this.#detach(this.#aside);
  }

  async #detach(directory: string): Promise<void> {
    try {
      const room = await this.#parts.disk.promise(this.description.bytes);
      if (this.#released) {
        room.release();
        return;
      }
      this.#room = room;
      this.#order({ kind: 'detach', directory });
    } catch (error) {
      this.#fail(error instanceof CodedError ? error : touched(this.#partition));
    }
  }

  #fail(error: CodedError): void {
    this.#failure ??= error;
    this.#checksum.reject(error);
    this.#endHold();
  }

  #endHold(): void {
    const hold = this.#hold;
    if (hold === null) return;
    this.#hold = null;
    clearInterval(hold.timer);
    endHold(this.#parts, this.#partition);
  }
}

/**
 * Its bytes travel encrypted. Nothing is synced and nothing copied: the process reads the file, and
 * its WAL as far as it goes now, while checkpoints wait. In WAL mode nothing but a checkpoint
 * changes these bytes.
 */
export function giveCopy(parts: StoreParts, partition: Partition): GivenCopy {
  return withFile(parts, partition, (file) => {
    file.flush();
    const walBytes = file.wal.holdStill();
    const { name } = file.db;
    const { size: fileBytes } = statSync(name);
    const wal = { path: `${name}-wal`, bytes: walBytes };
    const files = [{ path: name, bytes: fileBytes }, ...(walBytes > 0 ? [wal] : [])];
    const { keyspace, partition: number, incarnation, seq, rows, tombstones, digest } = file.info();
    const description = {
      ...{ keyspace, partition: number, sourceIncarnation: incarnation },
      ...{ seq, rows, tombstones, digest },
      ...{ bytes: fileBytes + walBytes, walBytes },
    };
    return new GivenCopy(parts, partition, { description, files, file });
  });
}
