// Which partitions may not move yet because they moved too short a time ago. Pure.
import type { Ring } from '@ringwright/ring/ring';

/** When versions were committed, and what time it is: hours since 1970. */
export interface CommitTimes {
  readonly versionHours?: ReadonlyMap<number, number> | undefined;
  readonly nowHours?: number | undefined;
}

/** By partition 1 when frozen, or null when none is. Versions of unknown age count as old. */
export function frozenPartitions(
  head: Ring,
  minPartHours: number,
  times: CommitTimes,
): Uint8Array | null {
  const { versionHours, nowHours } = times;
  if (minPartHours === 0 || versionHours === undefined || nowHours === undefined) return null;
  const young = new Set<number>();
  for (const [version, hours] of versionHours) {
    if (nowHours - hours < minPartHours) young.add(version);
  }
  if (young.size === 0) return null;
  const frozen = Uint8Array.from(head.minVersions, (version) => (young.has(version) ? 1 : 0));
  return frozen.includes(1) ? frozen : null;
}
