// Tracks the free space of a data directory, so that work is refused before the disk is full.
import { constants } from 'node:fs';
import { access, statfs } from 'node:fs/promises';
import { CodedError } from '@ringwright/base/coded-error';
import {
  diskCheckEveryBytes,
  diskCheckEveryMs,
  diskReserveInodes,
} from '@ringwright/base/limits-store';
import { messageOf } from '@ringwright/base/thrown';

/** Disk space set aside until it is released or its `using` block ends. */
export interface DiskReservation extends Disposable {
  release(): void;
}

interface FreeSpace {
  readonly bytes: number;
  /** Null if the file system has no fixed number of inodes. */
  readonly inodes: number | null;
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
  #freeQuery: Promise<FreeSpace> | null = null;

  constructor(root: string, reserveBytes: number) {
    this.#root = root;
    this.#reserveBytes = reserveBytes;
  }

  get low(): boolean {
    return this.#isLow;
  }

  free(): Promise<FreeSpace> {
    this.#freeQuery ??= statfs(this.#root)
      .then(({ bavail, bsize, files, ffree }) => {
        return { bytes: bavail * bsize, inodes: files === 0 ? null : ffree };
      })
      .finally(() => {
        this.#freeQuery = null;
      });
    return this.#freeQuery;
  }

  /** Size of the file system. */
  async totalBytes(): Promise<number> {
    const { blocks, bsize } = await statfs(this.#root);
    return blocks * bsize;
  }

  /**
   * Returns why no file can be created in the directory; null if files can. Files that are open
   * may still be written.
   */
  async unwritable(): Promise<string | null> {
    return await access(this.#root, constants.W_OK | constants.X_OK).then(() => null, messageOf);
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
    this.free()
      .then(
        (free) => {
          this.#isLow = this.#isShort(free);
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

  #isShort({ bytes, inodes }: FreeSpace): boolean {
    return bytes < this.#reserveBytes || (inodes ?? Number.POSITIVE_INFINITY) < diskReserveInodes;
  }

  /** Bytes to free before `bytes` more fit beside the reserve and the promises. */
  async lackingBytes(bytes = 0): Promise<number> {
    const free = await this.free();
    return Math.max(0, bytes + this.#reserveBytes + this.#reservedBytes - free.bytes);
  }

  /** Throws DISK_FULL if what is promised does not leave the reserves untouched. */
  async require(): Promise<void> {
    const space = await this.free();
    this.#isLow = this.#isShort(space);
    const free = space.bytes;
    const needed = this.#reservedBytes + this.#reserveBytes;
    if (free >= needed) {
      if (this.#isLow) throw inodesShort(space.inodes);
      return;
    }
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

function inodesShort(free: number | null): CodedError {
  const message = `${free} inodes are free, ${diskReserveInodes} are needed`;
  return new CodedError('DISK_FULL', message, {
    hint: 'df -i shows the inodes: delete small files on that disk, or use another file system',
    details: { freeInodes: free, neededInodes: diskReserveInodes },
  });
}
