// Opens the files that writes need before they are queued, a few in each turn. One batch may go to
// a thousand partitions that have no file yet, or a closed one.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { filesOpenedPerTurn } from '@ringwright/base/limits-store';
import type { OpenFiles } from './open-files.ts';
import type { Partition } from './partition.ts';
import { isDamage } from './sqlite-errors.ts';

interface Owner {
  readonly isClosed: () => boolean;
  readonly fail: (error: unknown) => void;
}

export class FileOpener {
  readonly #files: Pick<OpenFiles, 'useRows'>;
  readonly #owner: Owner;
  #openedInTurn = 0;
  /** Calls of `open` that have not ended. */
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(files: Pick<OpenFiles, 'useRows'>, owner: Owner) {
    this.#files = files;
    this.#owner = owner;
  }

  /** Opens the files and returns true; false if they are too many for this turn. */
  openNow(partitions: ReadonlySet<Partition>): boolean {
    if (partitions.size === 0) return true;
    const isTooMany = this.#openedInTurn + partitions.size > filesOpenedPerTurn;
    if (isTooMany || this.#waiting > 0) return false;
    for (const partition of partitions) this.#open(partition);
    return true;
  }

  /** Resolves when the files are open, those of earlier calls first. Never rejects. */
  open(partitions: ReadonlySet<Partition>): Promise<void> {
    this.#waiting += 1;
    this.#last = this.#last.then(async () => {
      for (const partition of partitions) {
        while (this.#openedInTurn >= filesOpenedPerTurn) await nextTurn();
        if (!this.#owner.isClosed()) this.#open(partition);
      }
      this.#waiting -= 1;
    });
    return this.#last;
  }

  /**
   * A damaged file, or one that is closed again for room, is opened when the write is applied,
   * which reports the damage. Any other error fails the store at once: it may come from the file
   * that was closed for room, whose rows would be missing until the next start.
   */
  #open(partition: Partition): void {
    if (!isClosedFile(partition)) return;
    if (this.#openedInTurn === 0) {
      setImmediate(() => {
        this.#openedInTurn = 0;
      });
    }
    this.#openedInTurn += 1;
    try {
      this.#files.useRows(partition);
    } catch (error) {
      if (!isDamage(error)) this.#owner.fail(error);
    }
  }
}

export function isClosedFile({ file, damage, isDropped }: Partition): boolean {
  return file === null && damage === null && !isDropped;
}
