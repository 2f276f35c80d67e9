// Lets operations on one partition (create, drop, adopt) happen one after the other.

export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs `work` after everything that was given for the same name before. */
  async take<T>(name: string, work: () => Promise<T>): Promise<T> {
    const previous = this.#last.get(name) ?? Promise.resolve();
    const mine = previous.then(work, work);
    const settled = mine.catch(() => undefined);
    this.#last.set(name, settled);
    try {
      return await mine;
    } finally {
      if (this.#last.get(name) === settled) this.#last.delete(name);
    }
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    while (this.#last.size > 0) await Promise.all(this.#last.values());
  }
}
