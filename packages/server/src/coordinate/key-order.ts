// Which requests of one connection wait for which: those of one key, where order can be seen.
import { byteText } from '@ringwright/base/as-buffer';
import { getOrMake } from '@ringwright/base/get-or-make';
import type { MaybePromise } from '@ringwright/base/maybe-promise';

interface Pending {
  /** Settles when all writes (reads) of the key that have begun so far have ended. */
  writes: Promise<void> | null;
  reads: Promise<void> | null;
  /** Number of the last write begun. */
  lastWrite: number;
  /** Writes under way that beginWrite let in; `told` is called when the last of them has ended. */
  untold: number;
  told: (() => void) | null;
  /** Requests that have not ended. */
  running: number;
}

const newPending = (): Pending => ({
  ...{ writes: null, reads: null, told: null },
  ...{ lastWrite: 0, running: 0, untold: 0 },
});

export type KeyEffect = 'read' | 'write' | 'swap';

/**
 * A read waits for the writes of its key before it, a write for the reads. A write does not wait
 * for a write: stamps are given in order, so the later one wins wherever they meet. Requests with
 * other keys never wait. Kept for the life of a connection; holds keys only while they are in use.
 */
export class KeyOrder {
  readonly #pending = new Map<string, Pending>();
  #writes = 0;

  /**
   * Starts `work` when its turn has come; what it gives at once is given at once. `overtaken` tells
   * whether a later write of the same key has begun.
   */
  run<T>(
    keys: readonly Uint8Array[],
    effect: KeyEffect,
    work: (overtaken: () => boolean) => MaybePromise<T>,
  ): MaybePromise<T> {
    const names = keys.map(byteText);
    const waits: Promise<unknown>[] = [];
    for (const name of names) collectWaits(this.#pending.get(name), effect, waits);
    this.#writes += effect === 'read' ? 0 : 1;
    const number = this.#writes;
    const overtaken = (): boolean =>
      names.every((name) => (this.#pending.get(name)?.lastWrite ?? 0) > number);
    const done =
      waits.length === 0 ? work(overtaken) : Promise.all(waits).then(() => work(overtaken));
    // Ended in the turn in which it began: nobody can come to wait for it.
    if (!(done instanceof Promise)) return done;
    const leave = (): void => this.#leave(names);
    const ended = done.then(leave, leave);
    for (const name of names) {
      const entry = getOrMake(this.#pending, name, newPending);
      entry.running += 1;
      // A swap is a read as well: a later write must neither be seen nor be deleted by it.
      if (effect !== 'write') entry.reads = both(entry.reads, ended);
      if (effect !== 'read') {
        entry.writes = both(entry.writes, ended);
        entry.lastWrite = number;
      }
    }
    return done;
  }

  /**
   * As `run` of a write of one key, without a promise: its turn, to be given to endWrite; null when
   * it has to wait.
   */
  beginWrite(key: Uint8Array): WriteTurn | null {
    const name = byteText(key);
    const entry = getOrMake(this.#pending, name, newPending);
    if (entry.reads !== null) return null;
    this.#writes += 1;
    entry.running += 1;
    entry.untold += 1;
    entry.lastWrite = this.#writes;
    return { name, entry, number: this.#writes };
  }

  /** Gives whether a later write of the key has begun. */
  endWrite({ name, entry, number }: WriteTurn): boolean {
    entry.running -= 1;
    entry.untold -= 1;
    if (entry.untold === 0) entry.told?.();
    if (entry.running === 0) this.#pending.delete(name);
    return entry.lastWrite > number;
  }

  #leave(names: readonly string[]): void {
    for (const name of names) {
      const entry = this.#pending.get(name);
      if (entry === undefined) continue;
      entry.running -= 1;
      if (entry.running === 0) this.#pending.delete(name);
    }
  }
}

/** A write that did not wait. */
interface WriteTurn {
  readonly name: string;
  readonly entry: Pending;
  readonly number: number;
}

function collectWaits(
  entry: Pending | undefined,
  effect: KeyEffect,
  waits: Promise<unknown>[],
): void {
  if (entry === undefined) return;
  if (effect !== 'write' && entry.untold > 0) gatherUntold(entry);
  const { writes, reads } = entry;
  if (effect !== 'write' && writes !== null) waits.push(writes);
  if (effect !== 'read' && reads !== null) waits.push(reads);
}

/** From here on writes of the key wait for whoever waits for these, so no more of them come. */
function gatherUntold(entry: Pending): void {
  if (entry.told !== null) return; // among the writes already
  const ended = new Promise<void>((resolve) => {
    entry.told = resolve;
  });
  entry.writes = both(entry.writes, ended);
}

/** Without what they give: a key that is always being read would keep that of all reads so far. */
function both(first: Promise<void> | null, second: Promise<void>): Promise<void> {
  return first === null ? second : Promise.all([first, second]).then(() => undefined);
}
