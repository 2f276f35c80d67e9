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
  /** Addresses of servers that could not be reached, to which old files were left. */
  leftTo: ReadonlySet<string>;
  /** Servers that were told of as away. */
  toldAway: string;
}

export const noTotals: RolloutTotals = {
  ...{ moved: 0, bytes: 0, verified: 0, copyMs: 0 },
  ...{ versions: 0, waves: 0, unproved: 0 },
  leftTo: new Set(),
  toldAway: '',
};
