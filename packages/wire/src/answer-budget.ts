// Calls that are being answered, in bytes: of one connection, and of all that share a budget.
// Whoever is over it is not read for a while: TCP slows down the other end, none is cut off. Pure.
import { answeringAllBytesMax, answeringBytesMax } from '@ringwright/base/limits-wire';

/** A connection as far as its reading goes; both may be called when it has been closed. */
interface Flow {
  pause(): void;
  resume(): void;
}

export class AnswerBudget {
  #bytes = 0;
  /** Looks again at each connection that is paused. */
  readonly #paused = new Set<() => void>();

  /**
   * Adds a connection. The function returned is told by how many bytes the calls grow that are
   * being answered there. A connection without any may always bring one frame, whatever others
   * have: what they wait for may be in it.
   */
  connection(flow: Flow): (bytes: number) => void {
    let ownBytes = 0;
    let isPaused = false;
    const look = (): void => {
      const isAllOver = this.#bytes > answeringAllBytesMax && ownBytes > 0;
      const isOver = isAllOver || ownBytes > answeringBytesMax;
      if (isOver === isPaused) return;
      isPaused = isOver;
      if (isOver) {
        this.#paused.add(look);
        flow.pause();
      } else {
        this.#paused.delete(look);
        flow.resume();
      }
    };
    return (bytes) => {
      ownBytes += bytes;
      this.#bytes += bytes;
      look();
      if (bytes > 0 || this.#bytes > answeringAllBytesMax) return;
      for (const lookAgain of this.#paused) lookAgain();
    };
  }
}
