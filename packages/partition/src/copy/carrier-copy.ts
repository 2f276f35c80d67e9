// A partition file that the carrier of this server fetches from the source's carrier.
import { CodedError } from '@ringwright/base/coded-error';
import { copyIdleMsMax } from '@ringwright/base/limits-copies';
import type { CarrierEndpoint, CopyReport, FilePart } from '../carry/copy-work.ts';
import type { Partition } from '../file/partition.ts';
import type { PartitionInfo } from '../file/partition-info.ts';
import type { StoreParts } from '../parts/store-parts.ts';
import type { CopyDescription } from './copy-manifest.ts';
import { type StagedCopy, stageCopy } from './staged-copy.ts';

interface Fetching {
  readonly resolve: (checksum: string) => void;
  readonly reject: (error: unknown) => void;
  readonly onBytes: (received: number) => void;
}

/** The caller ends it with finish or discard. Until finish resolves the live file is unchanged. */
export class CarrierCopy {
  readonly about: CopyDescription;
  readonly #staged: StagedCopy;
  readonly #order: ReturnType<StoreParts['carrier']['begin']>;
  readonly #kill: () => void;
  #received = 0;
  #fetching: Fetching | null = null;
  /** Kills the carrier when it has not reported for too long. */
  #watch: NodeJS.Timeout | undefined;
  #lost: CodedError | null = null;
  readonly #synced = Promise.withResolvers<void>();
  #ended = false;

  constructor(staged: StagedCopy, carrier: StoreParts['carrier'], key: string) {
    this.about = staged.about;
    this.#staged = staged;
    this.#kill = () => carrier.kill();
    this.#synced.promise.catch(() => undefined); // finish gets the error
    this.#order = carrier.begin({
      onReport: (report) => this.#hear(report),
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
   * both may be retried. Otherwise the copy is worthless: COPY_INVALID, DISK_FULL, and COPY_CUT of
   * a carrier that ended.
   */
  fetch(gate: CarrierEndpoint, onBytes: (received: number) => void): Promise<string> {
    if (this.#lost !== null) return Promise.reject(this.#lost);
    return new Promise((resolve, reject) => {
      this.#fetching = { resolve, reject, onBytes };
      this.#watchOver();
      this.#order({ kind: 'fetch', gate });
    });
  }

  /** Whether `fetch` may be called again. */
  get isUsable(): boolean {
    return this.#lost === null && !this.#ended;
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
      this.#order({ kind: 'end' });
      await this.#staged.remove();
    }
  }

  /** Discards the copy. Idempotent, also after finish. */
  async discard(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#watch);
    this.#order({ kind: 'end' });
    await this.#staged.remove();
  }

  #hear(report: CopyReport): void {
    if (report.kind === 'received') {
      this.#received = report.bytes;
      this.#watchOver();
      this.#progress(report.bytes);
    } else if (report.kind === 'taken') {
      this.#received = this.about.bytes;
      this.#settle()?.resolve(report.checksum);
    } else if (report.kind === 'synced') this.#synced.resolve();
    else if (report.kind === 'cut') {
      this.#received = report.received;
      const code = report.wasOpen ? 'COPY_CUT' : 'PEER_UNREACHABLE';
      const done = `${report.received} of ${this.about.bytes} bytes`;
      this.#settle()?.reject(new CodedError(code, `cut off after ${done}: ${report.message}`));
    } else if (report.kind === 'failed') {
      const code = report.code === 'DISK_FULL' ? 'DISK_FULL' : 'COPY_INVALID';
      this.#fail(new CodedError(code, report.message));
    }
  }

  /** Reports progress; the listener may cancel the fetch by throwing. */
  #progress(received: number): void {
    try {
      this.#fetching?.onBytes(received);
    } catch (error) {
      this.#settle()?.reject(error);
    }
  }

  #fail(error: CodedError): void {
    this.#lost = error;
    this.#synced.reject(error);
    this.#settle()?.reject(error);
  }

  #settle(): Fetching | null {
    clearTimeout(this.#watch);
    const fetching = this.#fetching;
    this.#fetching = null;
    return fetching;
  }

  #watchOver(): void {
    clearTimeout(this.#watch);
    this.#watch = setTimeout(this.#kill, copyIdleMsMax);
    this.#watch.unref();
  }
}

function partsOf({ file, about }: StagedCopy): FilePart[] {
  const { bytes, walBytes = 0 } = about;
  const wal = { path: `${file}-wal`, bytes: walBytes };
  return [{ path: file, bytes: bytes - walBytes }, ...(walBytes > 0 ? [wal] : [])];
}

/** `key`: of the keyed checksum. Throws COPY_INVALID, DISK_FULL before the first byte. */
export async function takeCopy(
  parts: StoreParts,
  partition: Partition,
  { about, key }: { readonly about: CopyDescription; readonly key: string },
): Promise<CarrierCopy> {
  const staged = await stageCopy(parts, partition, about);
  try {
    return new CarrierCopy(staged, parts.carrier, key);
  } catch (error) {
    await staged.remove();
    throw error;
  }
}
