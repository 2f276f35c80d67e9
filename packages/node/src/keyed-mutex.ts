// Runs work for one key (a partition, a keyspace, a file) one after the other; different keys do
// not wait for each other.

export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs `work` when everything that was given for the same key before has ended. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const previous = this.#last.get(key) ?? Promise.resolve();
    const mine = previous.then(work, work);
    const ended = mine.catch(() => undefined);
    this.#last.set(key, ended);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === ended) this.#last.delete(key);
    }
  }

  /** Nothing is under way for this key, and nothing waits. */
  isFree(key: string): boolean {
    return !this.#last.has(key);
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    while (this.#last.size > 0) await Promise.all(this.#last.values());
  }
}
