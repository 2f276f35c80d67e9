// Serializes work per key (a partition, a keyspace, a file); different keys do not wait for each
// other.

export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs `work` after all earlier work for the same key has ended. */
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

  /** Whether no work for this key runs or waits. */
  isFree(key: string): boolean {
    return !this.#last.has(key);
  }

  /** Resolves when no work runs. */
  async idle(): Promise<void> {
    while (this.#last.size > 0) await Promise.all(this.#last.values());
  }
}
