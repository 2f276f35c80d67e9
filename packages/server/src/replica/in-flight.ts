// Writes under way by partition: a fence has passed when those begun before it have ended.

export class InFlight {
  readonly #running = new Map<string, Set<Promise<unknown>>>();

  /** Counts `work` until it ends, and returns it. */
  track<T>(keyspace: string, partition: number, work: Promise<T>): Promise<T> {
    const key = `${keyspace}/${partition}`;
    const running = this.#running.get(key) ?? new Set();
    this.#running.set(key, running);
    running.add(work);
    const end = (): void => {
      running.delete(work);
      if (running.size === 0) this.#running.delete(key);
    };
    work.then(end, end);
    return work;
  }

  /** Resolves when every write that is under way now has ended. */
  async drained(keyspace: string, partition: number): Promise<void> {
    await Promise.allSettled([...(this.#running.get(`${keyspace}/${partition}`) ?? [])]);
  }
}
