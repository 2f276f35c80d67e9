// Queues the rounds of one key, from any server, at the device of its first slot. Not for safety,
// but so that one round ends before the next begins. A slow round loses its turn after
// roundPatienceMs.
import { roundPatienceMs } from '@ringwright/base/limits';
import { compareStamps, type Stamp } from '@ringwright/base/stamp';

interface Turn {
  readonly ballot: Stamp;
  readonly leave: () => void;
}

export class RoundQueue {
  readonly #last = new Map<string, Promise<void>>();
  /** The round that has the turn, by key. */
  readonly #current = new Map<string, Turn>();

  /**
   * Resolves when the earlier rounds have ended. Call the returned function when this round has.
   */
  async enter(name: string, ballot: Stamp): Promise<() => void> {
    const before = this.#last.get(name);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last.set(name, promise);
    await before;
    const timer = setTimeout(() => leave(), roundPatienceMs);
    const leave = (): void => {
      clearTimeout(timer);
      if (this.#current.get(name)?.leave === leave) this.#current.delete(name);
      if (this.#last.get(name) === promise) this.#last.delete(name);
      resolve();
    };
    this.#current.set(name, { ballot, leave });
    return leave;
  }

  /**
   * Ends the turn if a record at or above its ballot was stored. A record below it belongs to an
   * earlier round, or a read wrote it back; then the record of the round is still to come.
   */
  ended(name: () => string, stored: Stamp): void {
    const current = this.#current.size > 0 ? this.#current.get(name()) : undefined;
    if (current !== undefined && compareStamps(stored, current.ballot) >= 0) current.leave();
  }
}
