// How far each load and drain on this device is: what /v1/status and the rollout show. Plain data.

export type LoadStage = 'waiting' | 'copying' | 'catching-up' | 'available' | 'failed';

export interface LoadProgress {
  readonly keyspace: string;
  readonly partition: number;
  /** Assignment id of the move; null for a holder that refills. */
  readonly assignment: number | null;
  readonly stage: LoadStage;
  readonly bytes: number;
  readonly bytesTotal: number;
  readonly rows: number;
  /** Whole files received that passed length, hash, check and digest. */
  readonly copiesVerified: number;
  /** Why the last attempt failed; empty when none did. */
  readonly reason: string;
}

export function startedLoad(
  about: Pick<LoadProgress, 'keyspace' | 'partition' | 'assignment'>,
): LoadProgress {
  return {
    ...about,
    stage: 'waiting',
    bytes: 0,
    bytesTotal: 0,
    rows: 0,
    copiesVerified: 0,
    reason: '',
  };
}
