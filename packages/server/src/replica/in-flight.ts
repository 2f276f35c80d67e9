// Tracks the writes under way by partition, so that a caller can wait for all that have begun
// before.

/** Writes that began between two calls of `drained`. No write joins a cohort after it is closed. */
interface Cohort {
  running: number;
  isClosed: boolean;
  /** Called when the cohort is closed and its last write has ended. */
  onEmpty: (() => void)[];
}

export class InFlight {
  /** The open cohort of each partition with writes under way. */
  readonly #open = new Map<string, Map<number, Cohort>>();
  /** Closed cohorts with writes still running. */
  readonly #closed = new Map<string, Set<Cohort>>();

  /** Begins a write; pass the result to `end`. Uses no promise: every write passes through here. */
  begin(keyspace: string, partition: number): Cohort {
    let partitions = this.#open.get(keyspace);
    if (partitions === undefined) this.#open.set(keyspace, (partitions = new Map()));
    let cohort = partitions.get(partition);
    if (cohort === undefined) {
      cohort = { running: 0, isClosed: false, onEmpty: [] };
      partitions.set(partition, cohort);
    }
    cohort.running += 1;
    return cohort;
  }

  end(cohort: Cohort): void {
    cohort.running -= 1;
    if (cohort.running > 0 || !cohort.isClosed) return;
    for (const callback of cohort.onEmpty.splice(0)) callback();
  }

  /** Counts `work` until it ends, and returns it. */
  track<T>(keyspace: string, partition: number, work: Promise<T>): Promise<T> {
    const cohort = this.begin(keyspace, partition);
    const end = (): void => this.end(cohort);
    work.then(end, end);
    return work;
  }

  /** Resolves when every write that is under way now has ended. */
  async drained(keyspace: string, partition: number): Promise<void> {
    const key = `${keyspace}/${partition}`;
    const closed = this.#closed.get(key) ?? new Set<Cohort>();
    const open = this.#open.get(keyspace)?.get(partition);
    if (open !== undefined) {
      this.#open.get(keyspace)?.delete(partition);
      open.isClosed = true;
      if (open.running > 0) closed.add(open);
    }
    if (closed.size > 0) this.#closed.set(key, closed);
    await Promise.all([...closed].map((cohort) => this.#emptied(key, cohort)));
  }

  #emptied(key: string, cohort: Cohort): Promise<void> {
    return new Promise((resolve) => {
      cohort.onEmpty.push(() => {
        const closed = this.#closed.get(key);
        closed?.delete(cohort);
        if (closed?.size === 0) this.#closed.delete(key);
        resolve();
      });
    });
  }
}
