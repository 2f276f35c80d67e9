// Something that only one may have at a time; the others wait in order.

export class Mutex {
  #last: Promise<void> = Promise.resolve();

  /** Resolves with the function that gives it back. */
  async take(): Promise<() => void> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await before;
    return resolve;
  }
}
