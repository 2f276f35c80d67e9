// Tracks the calls being answered, in bytes: per connection, and for all connections that share a
// budget. A connection over budget is not read for a while: TCP slows down its peer, and nobody is
// disconnected. Pure.
import { answeringAllBytesMax, answeringBytesMax } from '@ringwright/base/limits-wire';

/** Controls the reading of a connection; both methods may be called after it was closed. */
interface Flow {
  pause(): void;
  resume(): void;
}

export class AnswerBudget {
  readonly #bytesMax: number;
  #bytes = 0;
  /** Re-evaluates each paused connection. */
  readonly #paused = new Set<() => void>();

  constructor(bytesMax: number = answeringAllBytesMax) {
    this.#bytesMax = bytesMax;
  }

  /**
   * Adds a connection. The caller reports changes of the bytes being answered there to the returned
   * function. A connection without calls in progress may always bring one frame, whatever others
   * have: that frame may carry what they wait for.
   */
  connection(flow: Flow): (bytes: number) => void {
    let ownBytes = 0;
    let isPaused = false;
    const update = (): void => {
      const isAllOver = this.#bytes > this.#bytesMax && ownBytes > 0;
      const isOver = isAllOver || ownBytes > answeringBytesMax;
      if (isOver === isPaused) return;
      isPaused = isOver;
      if (isOver) {
        this.#paused.add(update);
        flow.pause();
      } else {
        this.#paused.delete(update);
        flow.resume();
      }
    };
    return (bytes) => {
      ownBytes += bytes;
      this.#bytes += bytes;
      update();
      if (bytes > 0 || this.#bytes > this.#bytesMax) return;
      for (const updatePaused of this.#paused) updatePaused();
    };
  }
}
