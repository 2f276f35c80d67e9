// Work of many steps on the serving thread: between two of them others have their turn.
import { setImmediate } from 'node:timers/promises';
import { workTurnMsMax } from '@ringwright/base/limits-listeners';

export class Turn {
  #endsMs = performance.now() + workTurnMsMax;

  /** To be asked after each step. */
  get isOver(): boolean {
    return performance.now() >= this.#endsMs;
  }

  async next(): Promise<void> {
    await setImmediate();
    this.#endsMs = performance.now() + workTurnMsMax;
  }
}
