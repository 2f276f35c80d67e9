// Limits the long values that this device reads in one turn of the event loop, for all requests
// together. Otherwise one request for many keys, or many in one pipeline, would keep the others
// waiting until its last value is read.
import { setImmediate } from 'node:timers';
import { longReadsBytesMax, longValueBytesMin } from '@ringwright/base/limits-listeners';
import { type MaybePromise, tryCall } from '@ringwright/base/maybe-promise';

export class LongReads {
  #bytes = 0;
  /** What waits for a later turn, in the order in which it came. */
  readonly #waiting: (() => void)[] = [];

  /** Calls `read` at once, or in a later turn, after the calls that wait already. */
  run<Result>(read: () => MaybePromise<Result>): MaybePromise<Result> {
    // While some wait, the bytes of this turn are spent.
    if (!this.#isSpent) return read();
    return new Promise((resolve) => this.#waiting.push(() => resolve(tryCall(read))));
  }

  /** To be called with each value read. */
  note(value: Uint8Array | null): void {
    if (value === null || value.length < longValueBytesMin) return;
    if (this.#bytes === 0) setImmediate(() => this.#beginTurn());
    this.#bytes += value.length;
  }

  get #isSpent(): boolean {
    return this.#bytes >= longReadsBytesMax;
  }

  #beginTurn(): void {
    this.#bytes = 0;
    let begun = 0;
    while (begun < this.#waiting.length && !this.#isSpent) {
      this.#waiting[begun]?.();
      begun += 1;
    }
    this.#waiting.splice(0, begun);
  }
}
