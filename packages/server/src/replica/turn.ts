// Divides long work on the serving thread into turns of the event loop, so that requests run in
// between.
import { setImmediate } from 'node:timers/promises';
import { workTurnMsMax } from '@ringwright/base/limits-listeners';

export class Turn {
  #endsMs = performance.now() + workTurnMsMax;

  /** To be checked after each step. */
  get isOver(): boolean {
    return performance.now() >= this.#endsMs;
  }

  async next(): Promise<void> {
    await setImmediate();
    this.#endsMs = performance.now() + workTurnMsMax;
  }
}
