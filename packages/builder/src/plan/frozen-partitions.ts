// Which partitions are frozen because they moved too recently. Pure.
import type { Ring } from '@ringwright/ring/ring';
import { HOURS_COUNTED_MAX, hoursOfRuns } from '../state/last-moves.ts';
import type { LastMoves } from '../state/swift-state.ts';

/** The commit times of versions, and the present time, in hours since 1970. */
export interface CommitTimes {
  readonly versionHours?: ReadonlyMap<number, number> | undefined;
  readonly nowHours?: number | undefined;
  /** For an imported ring: the moves before its version 1. */
  readonly earlier?: LastMoves | undefined;
  /** Versions up to this one count as old. */
  readonly restedThrough?: number | undefined;
}

const FIRST_VERSION = 1;
const SECONDS_PER_HOUR = 3_600;

/** Returns 1 by frozen partition, or null without any. Versions of unknown age count as old. */
export function frozenPartitions(
  head: Ring,
  minPartHours: number,
  times: CommitTimes,
): Uint8Array | null {
  const { versionHours, nowHours, earlier } = times;
  if (minPartHours === 0 || versionHours === undefined || nowHours === undefined) return null;
  const young = new Set<number>();
  for (const [version, hours] of versionHours) {
    if (version > (times.restedThrough ?? 0) && nowHours - hours < minPartHours) young.add(version);
  }
  // An import moved nothing: its partitions are as old as they were in Swift.
  if (earlier !== undefined) young.delete(FIRST_VERSION);
  if (young.size === 0 && earlier === undefined) return null;
  const frozen = Uint8Array.from(head.minVersions, (version) => (young.has(version) ? 1 : 0));
  if (earlier !== undefined) {
    const hoursSince = nowHours - earlier.epoch / SECONDS_PER_HOUR;
    freezeUntouched(frozen, { head, earlier, youngerThan: minPartHours - hoursSince });
  }
  return frozen.includes(1) ? frozen : null;
}

/** Freezes partitions that only version 1 changed, by their last moves in Swift. */
function freezeUntouched(
  frozen: Uint8Array,
  from: { readonly head: Ring; readonly earlier: LastMoves; readonly youngerThan: number },
): void {
  const { minVersions, partitions } = from.head;
  const hours = hoursOfRuns(from.earlier, partitions);
  for (let partition = 0; partition < partitions; partition += 1) {
    const moved = hours[partition]!;
    if (minVersions[partition] !== FIRST_VERSION || moved === HOURS_COUNTED_MAX) continue;
    if (moved < from.youngerThan) frozen[partition] = 1;
  }
}
