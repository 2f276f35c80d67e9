// A partition file that the carrier of this server fetches from the source's carrier.
import { CodedError } from '@ringwright/base/coded-error';
import { copyIdleMsMax } from '@ringwright/base/limits-copies';
import type { CarrierEndpoint, CopyReport, FilePart } from '../carrier/copy-work.ts';
import type { Partition } from '../file/partition.ts';
import type { PartitionInfo } from '../file/partition-info.ts';
import type { StoreParts } from '../store/store-parts.ts';
import type { CopyDescription } from './copy-manifest.ts';
import { type StagedCopy, stageCopy } from './staged-copy.ts';

interface Fetching {
  readonly resolve: (checksum: string) => void;
  readonly reject: (error: unknown) => void;
  readonly onBytes: (received: number) => void;
}

/** The caller ends it with finish or discard. Until finish resolves the live file is unchanged. */
export class CarrierCopy {
  readonly description: CopyDescription;
  readonly #staged: StagedCopy;
  readonly #order: ReturnType<StoreParts['carrier']['begin']>;
  readonly #kill: () => void;
  #received = 0;
  #fetching: Fetching | null = null;
  /** Kills the carrier when it has not reported for too long. */
  #watchdog: NodeJS.Timeout | undefined;
  #failure: CodedError | null = null;
  readonly #synced = Promise.withResolvers<void>();
  #ended = false;

  constructor(staged: StagedCopy, carrier: StoreParts['carrier'], key: string) {
    this.description = staged.description;
    this.#staged = staged;
    this.#kill = () => carrier.kill();
    this.#synced.promise.catch(() => undefined); // finish gets the error
    this.#order = carrier.begin({
      onReport: (report) => this.#onReport(report),
      onLost: (error) => this.#fail(error),
    });
    this.#order({ kind: 'take', parts: partsOf(staged), key });
  }

  /** Bytes received: where to resume. */
  get received(): number {
    return this.#received;
  }

  /**
   * Resolves to the keyed checksum of all bytes once they have arrived. Rejects with
   * PEER_UNREACHABLE when the source's carrier was not reached, COPY_CUT when the connection broke:
   * both may be retried. Otherwise the copy is worthless: COPY_INVALID, DISK_FULL, DISK_FAILED, and
   * COPY_CUT of a carrier that ended.
   */
  fetch(endpoint: CarrierEndpoint, onBytes: (received: number) => void): Promise<string> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#fetching = { resolve, reject, onBytes };
      this.#restartWatchdog();
      this.#order({ kind: 'fetch', gate: endpoint });
    });
  }

  /** Whether `fetch` may be called again. */
  get isUsable(): boolean {
    return this.#failure === null && !this.#ended;
  }

  /** `checksum`: what the source reports for the bytes. See StagedCopy.adopt. */
  async finish(found: string, checksum: string): Promise<PartitionInfo> {
    this.#ended = true;
    try {
      this.#staged.checkOpen();
      if (found !== checksum) {
        throw this.#staged.invalid(`its keyed checksum is ${found}, the source says ${checksum}`);
      }
      return await this.#staged.adopt(() => this.#synced.promise);
    } finally {
      clearTimeout(this.#watchdog);
      this.#order({ kind: 'end' });
      await this.#staged.remove();
    }
  }

  /** Discards the copy. Idempotent, also after finish. */
  async discard(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#watchdog);
    this.#order({ kind: 'end' });
    await this.#staged.remove();
  }

  #onReport(report: CopyReport): void {
    if (report.kind === 'received') {
      this.#received = report.bytes;
      this.#restartWatchdog();
      this.#progress(report.bytes);
    } else if (report.kind === 'taken') {
      this.#received = this.description.bytes;
      this.#endFetch()?.resolve(report.checksum);
      this.#restartWatchdog(); // until it is synced
    } else if (report.kind === 'synced') {
      clearTimeout(this.#watchdog);
      this.#synced.resolve();
    } else if (report.kind === 'cut') {
      this.#received = report.received;
      const code = report.wasOpen ? 'COPY_CUT' : 'PEER_UNREACHABLE';
      const progress = `${report.received} of ${this.description.bytes} bytes`;
      this.#endFetch()?.reject(
        new CodedError(code, `cut off after ${progress}: ${report.message}`),
      );
    } else if (report.kind === 'failed') {
      // A failure of the disk here is not the fault of the source.
      this.#fail(new CodedError(report.code ?? 'COPY_INVALID', report.message));
    }
  }

  /** Reports progress; the listener may cancel the fetch by throwing. */
  #progress(received: number): void {
    try {
      this.#fetching?.onBytes(received);
    } catch (error) {
      this.#endFetch()?.reject(error);
    }
  }

  #fail(error: CodedError): void {
    this.#failure = error;
    this.#synced.reject(error);
    this.#endFetch()?.reject(error);
  }

  #endFetch(): Fetching | null {
    clearTimeout(this.#watchdog);
    const fetching = this.#fetching;
    this.#fetching = null;
    return fetching;
  }

  #restartWatchdog(): void {
    clearTimeout(this.#watchdog);
    this.#watchdog = setTimeout(this.#kill, copyIdleMsMax);
    this.#watchdog.unref();
  }
}

function partsOf({ file, description }: StagedCopy): FilePart[] {
  const { bytes, walBytes = 0 } = description;
  const wal = { path: `${file}-wal`, bytes: walBytes };
  return [{ path: file, bytes: bytes - walBytes }, ...(walBytes > 0 ? [wal] : [])];
}

/** `key`: of the keyed checksum. Throws COPY_INVALID, DISK_FULL before the first byte. */
export async function receiveByCarrier(
  parts: StoreParts,
  partition: Partition,
  { about: description, key }: { readonly about: CopyDescription; readonly key: string },
): Promise<CarrierCopy> {
  const staged = await stageCopy(parts, partition, description);
  try {
    return new CarrierCopy(staged, parts.carrier, key);
  } catch (error) {
    await staged.remove();
    throw error;
  }
}
