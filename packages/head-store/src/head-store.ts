// Records the heads of rings for several machines: a few small values, changed by compare-and-swap.
// Designed for etcd; a shared folder keeps the same contract.

export interface StoredHead {
  readonly value: string;
  /** Changes whenever the value does; only compared. */
  readonly revision: string;
}

/**
 * `unknown`: the connection broke after the request was sent. Reading the value tells the outcome
 * once it is our value or a later one.
 */
export type SwapOutcome = 'won' | 'lost' | 'unknown';

export interface HeadStore {
  /** The store as it is named on the command line. */
  readonly url: string;
  /** Null if there is no value yet. Never a stale value. Throws HEAD_STORE_UNREACHABLE. */
  read(ring: string): Promise<StoredHead | null>;
  /**
   * Writes if the revision is still the expected one; null: if there is no value. A value must
   * differ from all earlier ones. Throws HEAD_STORE_UNREACHABLE when nothing was sent to any
   * member.
   */
  swap(ring: string, expected: string | null, value: string): Promise<SwapOutcome>;
  /**
   * Reports each ring's present value, then newer ones. Some may be skipped, but never the newest,
   * and one may be reported twice. Returns a function that ends the watch.
   */
  watch(ports: WatchPorts): () => void;
}

export interface WatchPorts {
  readonly onHead: (ring: string, value: string) => void;
  /** The store is unreachable; the watch continues. */
  readonly onTrouble: (error: unknown) => void;
}
