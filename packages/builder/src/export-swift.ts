// A version of a ring as Swift's ring and builder. Pure.
import { must } from '@ringwright/base/assert';
import type { Ring } from '@ringwright/ring/ring';
import { swiftOfRing } from '@ringwright/ring/ring-of-swift';
import type { SwiftBuilder } from '@ringwright/ring/swift-builder';
import type { SwiftRing } from '@ringwright/ring/swift-ring';
import type { BuilderState } from './builder-state.ts';
import { HOURS_COUNTED_MAX, hoursOfRuns } from './last-moves.ts';
import { requireSteadyPower } from './steady-power.ts';

const SECONDS_PER_HOUR = 3_600;

/**
 * The ring for Swift's servers. Its version number goes on from the one that was imported. Throws
 * RING_NOT_CONVERTIBLE, MOVES_IN_FLIGHT, PART_POWER_INCREASING.
 */
export function exportSwiftRing(ring: Ring, state: BuilderState | null): SwiftRing {
  const { version = 1, nextPartPower = null } = state?.swift ?? {};
  // As it came it may go back; a version made since then must not reach Swift's servers.
  if (state !== null && ring.version > 1) requireSteadyPower(state);
  return swiftOfRing(ring, { version: version + ring.version - 1, nextPartPower });
}

/**
 * The builder for swift-ring-builder. `versionSeconds`: when each version was committed, in seconds
 * since 1970; partitions of versions that are not in it count as moved long ago.
 */
export function exportSwiftBuilder(
  ring: Ring,
  state: BuilderState,
  versionSeconds: ReadonlyMap<number, number>,
): SwiftBuilder {
  const { version, ...swift } = exportSwiftRing(ring, state);
  const removed = state.devices.flatMap((device) =>
    device?.state === 'removed' && (ring.devices[device.id] ?? null) !== null ? [device.id] : [],
  );
  const asImported = ring.version === 1 ? state.swift?.changed : undefined;
  return {
    ...swift,
    version: must(version, 'an export has a version'),
    replicas: ring.replicas,
    minPartHours: state.minPartHours,
    overload: state.overload,
    removed,
    ...lastMovesOf(ring, state, versionSeconds),
    lastGatherStart: state.swift?.gatherStart ?? 0,
    changed: asImported ?? (removed.length > 0 || hasWork(ring)),
    id: state.swift?.id ?? null,
  };
}

/** True when a device has weight and no slot, or slots and no weight. */
function hasWork({ devices, table }: Ring): boolean {
  const holds = new Uint8Array(devices.length);
  for (const row of table) for (const id of row) holds[id] = 1;
  return devices.some(
    (device) => device !== null && device.weight > 0 !== (holds[device.id] === 1),
  );
}

function lastMovesOf(
  ring: Ring,
  { swift }: BuilderState,
  versionSeconds: ReadonlyMap<number, number>,
): Pick<SwiftBuilder, 'lastMoves' | 'lastMovesEpoch'> {
  const earlier = swift?.lastMoves;
  const before = earlier === undefined ? null : hoursOfRuns(earlier, ring.partitions);
  if (earlier !== undefined && before !== null && ring.version === 1) {
    return { lastMoves: before, lastMovesEpoch: earlier.epoch };
  }
  const epoch = Math.floor(versionSeconds.get(ring.version) ?? 0);
  const since = (seconds: number): number =>
    Math.min(HOURS_COUNTED_MAX, Math.max(0, Math.floor((epoch - seconds) / SECONDS_PER_HOUR)));
  const sinceImport = since(earlier?.epoch ?? 0);
  const lastMoves = Uint8Array.from(ring.minVersions, (version, partition) => {
    const counted = version === 1 ? before?.[partition] : undefined;
    if (counted !== undefined) return Math.min(HOURS_COUNTED_MAX, counted + sinceImport);
    const seconds = versionSeconds.get(version);
    return seconds === undefined ? HOURS_COUNTED_MAX : since(seconds);
  });
  return { lastMoves, lastMovesEpoch: epoch };
}
