// Runs one kind of work per name (a directory, a server), one run at a time for each. All calls
// during a run share the next run, which begins after them.

export class SharedRuns {
  readonly #work: (name: string) => Promise<void>;
  readonly #cooldown: () => unknown;
  /** Runs that have not begun. */
  readonly #next = new Map<string, Promise<void>>();
  /** The last run of each name, including its cooldown. */
  readonly #last = new Map<string, Promise<unknown>>();

  /** `cooldown`: its promise delays the runs that follow, also after a failed run. */
  constructor(work: (name: string) => Promise<void>, cooldown: () => unknown = () => undefined) {
    this.#work = work;
    this.#cooldown = cooldown;
  }

  /** Resolves after a run that began after this call. Rejects like `work`. */
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
