// Lets callers wait until the moves of a ring are complete on this device.

interface CompletePorts {
  /** The version of the active ring. Throws RING_UNKNOWN. */
  readonly version: (keyspace: string) => number;
  /** Whether nothing is left to load or to drain. Called after every step, so it must be cheap. */
  readonly isComplete: (keyspace: string) => boolean;
}

interface Waiting {
  readonly keyspace: string;
  readonly version: number;
  readonly finish: (complete: boolean) => void;
}

export class MoveCompletion {
  readonly #ports: CompletePorts;
  readonly #waiting = new Set<Waiting>();

  constructor(ports: CompletePorts) {
    this.#ports = ports;
  }

  /**
   * Resolves to true when the moves are complete; to false after `waitMs`, and as soon as another
   * version is active. Throws RING_UNKNOWN.
   */
  async wait(keyspace: string, version: number, waitMs: number): Promise<boolean> {
    if (this.#ports.version(keyspace) !== version) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiting: Waiting = {
      ...{ keyspace, version },
      finish: (complete) => {
        clearTimeout(timer);
        this.#waiting.delete(waiting);
        resolve(complete);
      },
    };
    const timer = setTimeout(() => waiting.finish(false), waitMs);
    this.#waiting.add(waiting);
    this.look();
    return promise;
  }

  /** To be called after everything that may complete moves or add new ones. */
  look(): void {
    for (const { keyspace, version, finish } of this.#waiting) {
      if (this.#ports.version(keyspace) !== version) finish(false);
      else if (this.#ports.isComplete(keyspace)) finish(true);
    }
  }

  close(): void {
    for (const { finish } of this.#waiting) finish(false);
  }
}
