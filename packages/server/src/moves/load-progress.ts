// How far each load on this device is: what /v1/status and the rollout show. Plain data.

import type { LoadStage } from '@ringwright/wire/moves';

export interface LoadProgress {
  readonly keyspace: string;
  readonly partition: number;
  /** Assignment id of the move; null for a holder that refills. */
  readonly assignment: number | null;
  readonly stage: LoadStage;
  readonly bytes: number;
  readonly bytesTotal: number;
  readonly rows: number;
  /** Whole files received that passed length, keyed checksum, check and digest. */
  readonly copiesVerified: number;
  /** Why it waits, or why the last attempt failed; empty when it just runs. */
  readonly reason: string;
}

export function startedLoad(
  load: Pick<LoadProgress, 'keyspace' | 'partition' | 'assignment'>,
): LoadProgress {
  return {
    ...load,
    stage: 'queued',
    bytes: 0,
    bytesTotal: 0,
    rows: 0,
    copiesVerified: 0,
    reason: '',
  };
}
