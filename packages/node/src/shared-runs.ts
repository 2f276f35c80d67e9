// One kind of work by name (a directory, a server), one run at a time for each. All who ask while
// one is under way share the run after it, which begins later than they asked.

export class SharedRuns {
  readonly #work: (name: string) => Promise<void>;
  readonly #cooldown: () => unknown;
  /** Runs that have not begun. */
  readonly #next = new Map<string, Promise<void>>();
  /** The last run of each name, its cooldown included. */
  readonly #last = new Map<string, Promise<unknown>>();

  /** `cooldown`: what it resolves to ends a run for those that follow it, also one that failed. */
  constructor(work: (name: string) => Promise<void>, cooldown: () => unknown = () => undefined) {
    this.#work = work;
    this.#cooldown = cooldown;
  }

  /** Resolves after a run that began after this call. Rejects as `work`. */
  run(name: string): Promise<void> {
    const planned = this.#next.get(name);
    if (planned !== undefined) return planned;
    const before = this.#last.get(name) ?? Promise.resolve();
    const run = before.then(() => {
      this.#next.delete(name);
      return this.#work(name);
    });
    const ended = run.catch(() => undefined).then(() => this.#cooldown());
    this.#next.set(name, run);
    this.#last.set(name, ended);
    void ended.then(() => {
      if (this.#last.get(name) === ended) this.#last.delete(name);
    });
    return run;
  }
}
