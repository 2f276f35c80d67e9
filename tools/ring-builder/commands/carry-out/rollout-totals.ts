// What one rollout has done so far.

export interface RolloutTotals {
  moved: number;
  bytes: number;
  verified: number;
  copyMs: number;
  versions: number;
  waves: number;
  /** Rounds on end in which loaded moves had no receipts, because their joiners had just died. */
  unproved: number;
  /** Waves whose old files were left to servers that cannot be reached. */
  leftToDown: number;
  /** Servers that were told of as away. */
  toldAway: string;
}

export const noTotals: RolloutTotals = {
  ...{ moved: 0, bytes: 0, verified: 0, copyMs: 0 },
  ...{ versions: 0, waves: 0, unproved: 0, leftToDown: 0 },
  toldAway: '',
};
