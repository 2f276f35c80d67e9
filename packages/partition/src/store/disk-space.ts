// Tracks the free space of a data directory, so that work is refused before the disk is full.
import { statfs } from 'node:fs/promises';
import { CodedError } from '@ringwright/base/coded-error';
import { diskCheckEveryBytes, diskCheckEveryMs } from '@ringwright/base/limits-store';

/** Disk space set aside until it is released or its `using` block ends. */
export interface DiskReservation extends Disposable {
  release(): void;
}

export class DiskSpace {
  readonly #root: string;
  readonly #reserveBytes: number;
  #isLow = false;
  #bytesSinceCheck = 0;
  #checkedAtMs = 0;
  #isChecking = false;
  /** Bytes promised to copies that are being received. */
  #reservedBytes = 0;
  /** The statfs call in progress; concurrent callers share its result. */
  #freeBytesQuery: Promise<number> | null = null;

  constructor(root: string, reserveBytes: number) {
    this.#root = root;
    this.#reserveBytes = reserveBytes;
  }

  get low(): boolean {
    return this.#isLow;
  }

  freeBytes(): Promise<number> {
    this.#freeBytesQuery ??= statfs(this.#root)
      .then(({ bavail, bsize }) => bavail * bsize)
      .finally(() => {
        this.#freeBytesQuery = null;
      });
    return this.#freeBytesQuery;
  }

  /** Size of the file system. */
  async totalBytes(): Promise<number> {
    const { blocks, bsize } = await statfs(this.#root);
    return blocks * bsize;
  }

  /** Counts written bytes and checks the disk now and then, without waiting for the result. */
  note(bytes: number): void {
    this.#bytesSinceCheck += bytes;
    const now = performance.now();
    const isDue =
      this.#bytesSinceCheck >= diskCheckEveryBytes || now - this.#checkedAtMs >= diskCheckEveryMs;
    if (!isDue || this.#isChecking) return;
    this.#isChecking = true;
    this.#bytesSinceCheck = 0;
    this.#checkedAtMs = now;
    this.freeBytes()
      .then(
        (free) => {
          this.#isLow = free < this.#reserveBytes;
        },
        () => {
          // A disk that cannot even report its free space is not written to; the next write asks
          // again.
          this.#isLow = true;
        },
      )
      .finally(() => {
        this.#isChecking = false;
      });
  }

  /** Bytes to free before `bytes` more fit beside the reserve and the promises. */
  async lackingBytes(bytes = 0): Promise<number> {
    const free = await this.freeBytes();
    return Math.max(0, bytes + this.#reserveBytes + this.#reservedBytes - free);
  }

  /** Throws DISK_FULL if what is promised does not leave the reserve untouched. */
  async require(): Promise<void> {
    const free = await this.freeBytes();
    this.#isLow = free < this.#reserveBytes;
    const needed = this.#reservedBytes + this.#reserveBytes;
    if (free >= needed) return;
    throw new CodedError(
      'DISK_FULL',
      `${free} bytes are free, ${needed} are needed (${this.#reserveBytes} of them in reserve)`,
      {
        hint: 'free space on the disk, purge the trash, or lower the weight of this device',
        details: { freeBytes: free, neededBytes: needed, reserveBytes: this.#reserveBytes },
      },
    );
  }

  /** Promises bytes. Throws DISK_FULL unless they leave the reserve untouched. */
  async reserve(bytes: number): Promise<DiskReservation> {
    this.#reservedBytes += bytes;
    let promised = bytes;
    const release = (): void => {
      this.#reservedBytes -= promised;
      promised = 0;
    };
    try {
      await this.require();
    } catch (error) {
      release();
      throw error;
    }
    return { release, [Symbol.dispose]: release };
  }
}
