// One partition file on its way to another server, read by the carrier.
import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { CodedError } from '@ringwright/base/coded-error';
import { copyHoldLookMs, copyHoldMsMax } from '@ringwright/base/limits-copies';
import { removeFiles } from '@ringwright/node/remove-files';
import type { CarrierEndpoint, CopyReport, FilePart } from '../carrier/copy-work.ts';
import type { Partition } from '../file/partition.ts';
import type { PartitionFile } from '../file/partition-file.ts';
import type { DiskReservation } from '../store/disk-space.ts';
import type { StoreParts } from '../store/store-parts.ts';
import { withFile } from '../store/use-partition.ts';
import { beginHold, changedDuringCopy, endHold } from './copy-live-file.ts';
import { type CopyDescription, described } from './copy-manifest.ts';

const TICKET_BYTES = 32;
const KEY_BYTES = 16;

/** Holds checkpoints back while the file is read; their count shows whether one ran. */
interface Hold {
  readonly file: PartitionFile;
  readonly checkpoints: number;
  readonly sinceMs: number;
  timer: NodeJS.Timeout;
}

/** Where the joiner's carrier fetches the bytes. */
type CarrierPort = Omit<CarrierEndpoint, 'host'>;

/** A file given to another server. The carrier has it open until it is released. */
export class OutgoingCopy {
  readonly description: CopyDescription;
  /** Key of the keyed checksum: drawn here, and sent only to the server that may have the copy. */
  readonly key = randomBytes(KEY_BYTES).toString('hex');
  readonly #parts: StoreParts;
  readonly #partition: Partition;
  readonly #order: ReturnType<StoreParts['carrier']['begin']>;
  readonly #checksum = Promise.withResolvers<string>();
  #hold: Hold | null;
  #detachedDirectory: string | null = null;
  #reservation: DiskReservation | null = null;
  /** Why the rest of the copy cannot be given. */
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
    this.#checksum.promise.catch(() => undefined); // checksum() rejects with it
    this.#hold = this.#begin(copied.file);
    try {
      this.#order = parts.carrier.begin({
        onReport: (report) => this.#onReport(report),
        onLost: (error) => this.#fail(error),
      });
      this.#order({ kind: 'give', parts: copied.files, key: this.key });
    } catch (error) {
      this.#endHold();
      throw error;
    }
  }

  /** Grows while a joiner reads. */
  get sentBytes(): number {
    return this.#sentBytes;
  }

  /**
   * Opens the carrier to one connection, which gets the bytes from `offset` on. Throws MOVE_UNKNOWN
   * when the bytes are no longer available, COPY_CUT when the carrier cannot listen.
   */
  async door(offset: number): Promise<CarrierPort> {
    if (this.#failure !== null) {
      const options = { cause: this.#failure };
      throw new CodedError('MOVE_UNKNOWN', 'the copy is no longer available', options);
    }
    const port = await this.#parts.carrier.port();
    const ticket = randomBytes(TICKET_BYTES).toString('hex');
    const cipherKey = randomBytes(KEY_BYTES).toString('hex');
    this.#order({ kind: 'admit', ticket, offset, cipherKey });
    return { port, ticket, cipherKey };
  }

  /**
   * Resolves to the keyed checksum of all bytes once they are read. Rejects with COPY_BUSY when a
   * checkpoint wrote the file before this call or during it, COPY_CUT when the carrier has ended.
   */
  async checksum(): Promise<string> {
    const checksum = await this.#checksum.promise;
    if (!this.#isUntouched()) this.#fail(changedDuringCopy(this.#partition));
    if (this.#failure !== null) throw this.#failure;
    return checksum;
  }

  /** Idempotent. */
  async release(): Promise<void> {
    if (this.#released) return;
    this.#released = true;
    this.#fail(new CodedError('MOVE_UNKNOWN', 'the copy was released'));
    this.#order({ kind: 'end' });
    this.#reservation?.release();
    if (this.#detachedDirectory !== null) await removeFiles(this.#detachedDirectory);
  }

  #begin(file: PartitionFile): Hold {
    beginHold(this.#partition);
    const timer = setInterval(() => this.#checkHold(), copyHoldLookMs);
    timer.unref();
    return { file, checkpoints: file.wal.checkpoints, sinceMs: performance.now(), timer };
  }

  #onReport(report: CopyReport): void {
    if (report.kind === 'sent') this.#sentBytes = report.bytes;
    else if (report.kind === 'given') {
      // All bytes were sent. A joiner whose connection broke before the end may still fetch the
      // rest.
      this.#checksum.resolve(report.checksum);
    } else if (report.kind === 'detached') {
      if (!this.#isUntouched()) this.#fail(changedDuringCopy(this.#partition));
      this.#endHold();
    } else if (report.kind === 'failed') {
      this.#partition.isSuspect = true; // its file may be unreadable: the scrub will tell
      this.#fail(new CodedError('COPY_CUT', report.message));
    }
  }

  /** Whether no checkpoint has run since reading began. */
  #isUntouched(): boolean {
    const hold = this.#hold;
    if (hold === null) return true;
    return this.#partition.file === hold.file && hold.file.wal.checkpoints === hold.checkpoints;
  }

  /** Runs at intervals. Checkpoints must not wait long: the carrier then copies the file aside. */
  #checkHold(): void {
    const hold = this.#hold;
    if (hold === null || this.#detachedDirectory !== null) return;
    if (!this.#isUntouched()) {
      this.#fail(changedDuringCopy(this.#partition));
      return;
    }
    const isLong = performance.now() - hold.sinceMs > copyHoldMsMax;
    if (!isLong && !hold.file.wal.exceeds(this.#parts.limits.walBytesMax)) return;
    this.#detachedDirectory = this.#parts.stagingPath('given');
    void this.#detach(this.#detachedDirectory);
  }

  async #detach(directory: string): Promise<void> {
    try {
      const reservation = await this.#parts.disk.reserve(this.description.bytes);
      if (this.#released) {
        reservation.release();
        return;
      }
      this.#reservation = reservation;
      this.#order({ kind: 'detach', directory });
    } catch (error) {
      this.#fail(error instanceof CodedError ? error : changedDuringCopy(this.#partition));
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
 * Gives a file to another server, encrypted on the way. Nothing is synced or copied: the carrier
 * reads the file, and its WAL up to its present end, while checkpoints wait. In WAL mode only a
 * checkpoint changes these bytes.
 */
export function sendCopy(parts: StoreParts, partition: Partition): OutgoingCopy {
  return withFile(parts, partition, (file) => {
    file.flush();
    const walBytes = file.wal.stopCheckpoint();
    const { name } = file.db;
    const { size: fileBytes } = statSync(name);
    const wal = { path: `${name}-wal`, bytes: walBytes };
    const files = [{ path: name, bytes: fileBytes }, ...(walBytes > 0 ? [wal] : [])];
    const bytes = fileBytes + walBytes;
    const description = { ...described(file.info()), bytes, walBytes };
    return new OutgoingCopy(parts, partition, { description, files, file });
  });
}
