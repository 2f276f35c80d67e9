// Where heads of rings are recorded for several machines: a few small values that change by
// compare-and-swap. Made for etcd; a folder that machines share keeps the same contract.

export interface StoredHead {
  readonly value: string;
  /** Changes whenever the value does; only compared. */
  readonly revision: string;
}

/**
 * `unknown`: the connection broke after the request was sent. Reading the value tells, once it is
 * ours or a later one.
 */
export type SwapOutcome = 'won' | 'lost' | 'unknown';

export interface HeadStore {
  /** The store as it is named on the command line. */
  readonly url: string;
  /** Null when there is none yet. Never an old value. Throws HEAD_STORE_UNREACHABLE. */
  read(ring: string): Promise<StoredHead | null>;
  /**
   * Writes when the revision still is the expected one, null: when there is no value. Values have
   * to differ from all before. Throws HEAD_STORE_UNREACHABLE when nothing was sent to any member.
   */
  swap(ring: string, expected: string | null, value: string): Promise<SwapOutcome>;
  /**
   * Tells each ring's value as it is now, then every newer one; some may be passed over, never the
   * newest, and one may be told twice. The function returned ends it.
   */
  watch(ports: WatchPorts): () => void;
}

export interface WatchPorts {
  readonly onHead: (ring: string, value: string) => void;
  /** The store is away; watching goes on. */
  readonly onTrouble: (error: unknown) => void;
}
