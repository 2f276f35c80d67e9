// Rounds about one key, from whatever server, take turns at the device of its first slot: not for
// safety, but so that one ends before the next begins. Who is slow is waited for no longer.
import { roundPatienceMs } from '@ringwright/base/limits';

export class RoundQueue {
  readonly #last = new Map<string, Promise<void>>();
  /** How the round that has its turn ends, by key. */
  readonly #current = new Map<string, () => void>();

  /** Resolves when the rounds before have ended; call the result when this one has. */
  async enter(name: string): Promise<() => void> {
    const before = this.#last.get(name);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last.set(name, promise);
    await before;
    const timer = setTimeout(() => leave(), roundPatienceMs);
    const leave = (): void => {
      clearTimeout(timer);
      if (this.#current.get(name) === leave) this.#current.delete(name);
      if (this.#last.get(name) === promise) this.#last.delete(name);
      resolve();
    };
    this.#current.set(name, leave);
    return leave;
  }

  /** A record of the key was stored: the round that had its turn is over. */
  ended(name: () => string): void {
    if (this.#current.size > 0) this.#current.get(name())?.();
  }
}
