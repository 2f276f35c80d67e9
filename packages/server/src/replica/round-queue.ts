// Rounds about one key, from whatever server, take turns at the device of its first slot: not for
// safety, but so that one ends before the next begins. Who is slow is waited for no longer.
import { roundPatienceMs } from '@ringwright/base/limits';
import { compareStamps, type Stamp } from '@ringwright/base/stamp';

interface Turn {
  readonly ballot: Stamp;
  readonly leave: () => void;
}

export class RoundQueue {
  readonly #last = new Map<string, Promise<void>>();
  /** How the round that has its turn ends, by key. */
  readonly #current = new Map<string, Turn>();

  /** Resolves when the rounds before have ended; call the result when this one has. */
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
   * A record of the key was stored: the round that had its turn is over. One below its ballot is of
   * an earlier round, or a read wrote it back; then that of the round is still to come.
   */
  ended(name: () => string, stored: Stamp): void {
    const current = this.#current.size > 0 ? this.#current.get(name()) : undefined;
    if (current !== undefined && compareStamps(stored, current.ballot) >= 0) current.leave();
  }
}
