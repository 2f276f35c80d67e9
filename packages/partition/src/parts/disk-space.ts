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
  #low = false;
  #bytesSinceCheck = 0;
  #checkedAtMs = 0;
  #checking = false;
  /** Bytes promised to copies that are being received. */
  #promisedBytes = 0;
  /** The statfs call in progress; concurrent callers share its result. */
  #asked: Promise<number> | null = null;

  constructor(root: string, reserveBytes: number) {
    this.#root = root;
    this.#reserveBytes = reserveBytes;
  }

  get low(): boolean {
    return this.#low;
  }

  freeBytes(): Promise<number> {
    this.#asked ??= statfs(this.#root)
      .then(({ bavail, bsize }) => bavail * bsize)
      .finally(() => {
        this.#asked = null;
      });
    return this.#asked;
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
    const due =
      this.#bytesSinceCheck >= diskCheckEveryBytes || now - this.#checkedAtMs >= diskCheckEveryMs;
    if (!due || this.#checking) return;
    this.#checking = true;
    this.#bytesSinceCheck = 0;
    this.#checkedAtMs = now;
    this.freeBytes()
      .then(
        (free) => {
          this.#low = free < this.#reserveBytes;
        },
        () => {
          // A disk that cannot even report its free space is not written to; the next write asks
          // again.
          this.#low = true;
        },
      )
      .finally(() => {
        this.#checking = false;
      });
  }

  /** Bytes to free before `bytes` more fit beside the reserve and the promises. */
  async lackingBytes(bytes = 0): Promise<number> {
    const free = await this.freeBytes();
    return Math.max(0, bytes + this.#reserveBytes + this.#promisedBytes - free);
  }

  /** Throws DISK_FULL unless `bytes` more leave the reserve untouched. */
  async require(bytes: number): Promise<void> {
    const free = await this.freeBytes();
    this.#low = free < this.#reserveBytes;
    const needed = bytes + this.#promisedBytes + this.#reserveBytes;
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

  /** Like `require`, and keeps the bytes reserved. */
  async reserve(bytes: number): Promise<DiskReservation> {
    this.#promisedBytes += bytes;
    let promised = bytes;
    const release = (): void => {
      this.#promisedBytes -= promised;
      promised = 0;
    };
    try {
      await this.require(0);
    } catch (error) {
      release();
      throw error;
    }
    return { release, [Symbol.dispose]: release };
  }
}
