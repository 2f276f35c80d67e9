// The figures of one run, and whether they are as expected. Pure.

export interface Figures {
  /** Records loaded, and read back at the end. */
  readonly records: number;
  /** Places of the source left out because an earlier one has the same key. */
  readonly duplicates: number;
  /**
   * Records that are missing at the end, older than acknowledged, or different from what was
   * written.
   */
  readonly lost: number;
  /** Answers during the run that were wrong in the same sense. */
  readonly wrongReads: number;
  /** Slots that changed their device, and the fewest moves that reach the balance. */
  readonly moved: number;
  readonly moveLowerBound: number;
  readonly copiesVerified: boolean;
  readonly copied: {
    readonly partitions: number;
    readonly bytes: number;
    readonly mbPerSecond: number;
  };
  /** Files of the two partitions that replace one: made, and expected. */
  readonly split: { readonly filled: number; readonly wanted: number; readonly seconds: number };
  readonly loadedPerSecond: number;
  readonly comparedPerSecond: number;
  /** Operations of the application while the ring changed and a server died. */
  readonly live: {
    readonly writes: number;
    readonly reads: number;
    readonly retries: number;
    readonly writesAfterKill: number;
    readonly readsAfterKill: number;
  };
  readonly longestPauseMs: { readonly writer: number; readonly reader: number };
  readonly ringVersion: number;
  readonly rolloutSeconds: number;
  readonly seconds: number;
}

/** Returns one sentence for each figure that is not as expected. */
export function findProblems(figures: Figures): string[] {
  const { records, lost, wrongReads, moved, moveLowerBound, copied, live } = figures;
  const problems: string[] = [];
  if (records === 0) problems.push('no record was loaded');
  if (lost > 0) problems.push(`${lost} of ${records} records were lost`);
  if (wrongReads > 0) problems.push(`${wrongReads} reads returned wrong values`);
  if (moved === 0) problems.push('the joining server received nothing');
  if (moved !== moveLowerBound) {
    problems.push(`${moved} slots moved, although ${moveLowerBound} are enough`);
  }
  if (!figures.copiesVerified) problems.push('not every copy was verified');
  if (copied.partitions !== moved) {
    problems.push(`${copied.partitions} partition files were copied for ${moved} moves`);
  }
  const { filled, wanted } = figures.split;
  if (filled !== wanted) problems.push(`a split filled ${filled} of ${wanted} files`);
  if (live.writesAfterKill === 0) problems.push('no write succeeded after the kill');
  if (live.readsAfterKill === 0) problems.push('no read succeeded after the kill');
  return problems;
}
