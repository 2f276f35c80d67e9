// Limits the long values that this device reads in one turn of the event loop, for all requests
// together. Otherwise one request for many keys, or many in one pipeline, would keep the others
// waiting until its last value is read.
import { setImmediate as laterTurn } from 'node:timers';
import { setImmediate } from 'node:timers/promises';
import { longReadsBytesMax, longValueBytesMin } from '@ringwright/base/limits-listeners';
import type { MaybePromise } from '@ringwright/base/maybe-promise';

export class LongReads {
  #bytes = 0;

  /** Calls `read` at once, or in a later turn, after the calls that wait already. */
  run<Result>(read: () => MaybePromise<Result>): MaybePromise<Result> {
    return this.#areSpent ? this.#runLater(read) : read();
  }

  /** To be called with each value read. */
  note(value: Uint8Array | null): void {
    if (value === null || value.length < longValueBytesMin) return;
    if (this.#bytes === 0) laterTurn(() => (this.#bytes = 0));
    this.#bytes += value.length;
  }

  get #areSpent(): boolean {
    return this.#bytes >= longReadsBytesMax;
  }

  async #runLater<Result>(read: () => MaybePromise<Result>): Promise<Result> {
    // Nothing may come between this check and the read.
    while (this.#areSpent) await setImmediate();
    return read();
  }
}
