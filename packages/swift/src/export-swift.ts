// Exports a version of a ring as Swift's ring and builder. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { minPartHoursMax } from '@ringwright/base/limits';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { ringDevices } from '@ringwright/builder/state/first-version';
import { HOURS_COUNTED_MAX, hoursOfRuns } from '@ringwright/builder/state/last-moves';
import { requireSteadyPower } from '@ringwright/builder/state/steady-power';
import type { SwiftReplicas, SwiftState } from '@ringwright/builder/state/swift-state';
import type { Device } from '@ringwright/ring/device';
import type { Partitioner } from '@ringwright/ring/partitioner/partitioner';
import type { Ring } from '@ringwright/ring/ring';
import { deviceIdBytes } from '@ringwright/ring/slot-rows';
import type { SwiftBuilder } from './swift-builder.ts';
import { type SwiftRing, slotsOfReplicas } from './swift-ring.ts';

const SECONDS_PER_HOUR = 3_600;

/**
 * Returns the ring for Swift's servers. Its version number continues from the imported one. Throws
 * RING_NOT_CONVERTIBLE, MOVES_IN_FLIGHT, PART_POWER_INCREASING.
 */
export function exportSwiftRing(ring: Ring, state: BuilderState | null): SwiftRing {
  const { swift } = state ?? {};
  // An unchanged import may be exported; a later version must not reach Swift's servers.
  if (state !== null && ring.version > 1) requireSteadyPower(state);
  const asImported = swift !== undefined && ring.version === 1;
  const { version = asImported ? null : 1 } = swift ?? {};
  return swiftOfRing(ring, {
    version: version === null ? null : version + ring.version - 1,
    nextPartPower: swift?.nextPartPower ?? null,
    idBytes: swift?.idBytes ?? deviceIdBytes(ring.devices.length),
    emptyRow: replicasOf(ring.replicas, swift)?.emptyRow ?? false,
  });
}

/**
 * Returns the builder for swift-ring-builder. `versionSeconds`: commit time of each version, in
 * seconds since 1970. Partitions of versions without a commit time count as moved long ago.
 */
export function exportSwiftBuilder(
  ring: Ring,
  state: BuilderState,
  versionSeconds: ReadonlyMap<number, number>,
): SwiftBuilder {
  const { version, ...swift } = exportSwiftRing(ring, state);
  const removed = removedOf(state, ring.devices);
  const settings = settingsOf(state, ring.replicas);
  const asImported = ring.version === 1 ? state.swift?.changed : undefined;
  const pending = slotsOfReplicas(settings.replicas, swift.partPower) !== slotsOf(ring);
  return {
    ...swift,
    ...settings,
    version: version ?? 1,
    removed,
    ...lastMovesOf(ring, state, versionSeconds),
    changed: asImported ?? (removed.length > 0 || pending || hasWork(ring)),
    dispersion: ring.version === 1 ? (state.swift?.dispersion ?? null) : null,
  };
}

/**
 * Returns the builder of a ring without a version: Swift places everything. Throws
 * RING_NOT_CONVERTIBLE.
 */
export function exportUnplacedBuilder(state: BuilderState): SwiftBuilder {
  const { partitioner, devices, swift } = state;
  if (partitioner.kind !== 'md5-shift') throw notOfSwift(state.ring, partitioner);
  const partitions = 2 ** partitioner.power;
  const hours = swift?.lastMoves;
  return {
    partPower: partitioner.power,
    nextPartPower: swift?.nextPartPower ?? null,
    devices: ringDevices(state),
    table: null,
    idBytes: 2,
    emptyRow: false,
    ...settingsOf(state, state.replicas),
    version: swift?.version ?? 1,
    removed: removedOf(state, devices),
    lastMoves: hours === undefined ? new Uint8Array(partitions) : hoursOfRuns(hours, partitions),
    lastMovesEpoch: hours?.epoch ?? 0,
    changed: swift?.changed ?? true,
    dispersion: swift?.dispersion ?? null,
  };
}

/** Returns Swift's own values, unless they were changed here. */
function settingsOf(
  { minPartHours, overload, swift }: BuilderState,
  placed: number,
): Pick<
  SwiftBuilder,
  'replicas' | 'replicasInt' | 'minPartHours' | 'overload' | 'lastGatherStart' | 'id'
> {
  const replicas = replicasOf(placed, swift);
  const hours = minPartHours === minPartHoursMax ? swift?.minPartHours : undefined;
  return {
    replicas: replicas?.wanted ?? placed,
    replicasInt: replicas?.int ?? false,
    minPartHours: hours ?? minPartHours,
    overload,
    lastGatherStart: swift?.gatherStart ?? 0,
    id: swift?.id ?? null,
  };
}

function replicasOf(placed: number, swift: SwiftState | undefined): SwiftReplicas | undefined {
  return swift?.replicas?.placed === placed ? swift.replicas : undefined;
}

function removedOf(state: BuilderState, devices: readonly (Device | null)[]): number[] {
  return state.devices.flatMap((device) =>
    device?.state === 'removed' && (devices[device.id] ?? null) !== null ? [device.id] : [],
  );
}

function slotsOf({ table }: Ring): number {
  return table.reduce((sum, row) => sum + row.length, 0);
}

/** Whether a device has weight and no slot, or slots and no weight. */
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
  const importedHours = earlier === undefined ? null : hoursOfRuns(earlier, ring.partitions);
  if (earlier !== undefined && importedHours !== null && ring.version === 1) {
    return { lastMoves: importedHours, lastMovesEpoch: earlier.epoch };
  }
  const epoch = Math.floor(versionSeconds.get(ring.version) ?? 0);
  const hoursSince = (seconds: number): number =>
    Math.min(HOURS_COUNTED_MAX, Math.max(0, Math.floor((epoch - seconds) / SECONDS_PER_HOUR)));
  const sinceImport = hoursSince(earlier?.epoch ?? 0);
  const lastMoves = Uint8Array.from(ring.minVersions, (version, partition) => {
    const storedHours = version === 1 ? importedHours?.[partition] : undefined;
    if (storedHours !== undefined) return Math.min(HOURS_COUNTED_MAX, storedHours + sinceImport);
    const seconds = versionSeconds.get(version);
    return seconds === undefined ? HOURS_COUNTED_MAX : hoursSince(seconds);
  });
  return { lastMoves, lastMovesEpoch: epoch };
}

/**
 * Converts a ring to Swift's form. Throws RING_NOT_CONVERTIBLE for another partitioner, and
 * MOVES_IN_FLIGHT, because Swift cannot represent a slot between two devices.
 */
function swiftOfRing(
  ring: Ring,
  shape: Omit<SwiftRing, 'partPower' | 'devices' | 'table'>,
): SwiftRing {
  const { partitioner, moves, devices, table, keyspace, version } = ring;
  if (partitioner.kind !== 'md5-shift') {
    throw notOfSwift(keyspace, partitioner);
  }
  if (moves.length > 0) {
    throw new CodedError(
      'MOVES_IN_FLIGHT',
      `version ${version} of ${keyspace} has ${counted(moves.length, 'move')} in flight`,
      {
        hint: `ring-builder rollout ${keyspace}, or export a version without moves`,
        details: { ring: keyspace, version, moves: moves.length },
      },
    );
  }
  return { partPower: partitioner.power, devices, table, ...shape };
}

type OtherPartitioner = Exclude<Partitioner, { readonly kind: 'md5-shift' }>;

const whyNot: Readonly<Record<OtherPartitioner['kind'], string>> = {
  'murmur3-mod': 'it supports only MD5',
  'hash-intervals': 'its partitions are the top bits of MD5, not intervals with other ends',
  ranges: 'it places keys by their hash, not by their order',
};

function notOfSwift(ring: string, { kind }: OtherPartitioner): CodedError {
  const why = `Swift supports only md5-shift: ${whyNot[kind]}`;
  const message = `ring ${ring} has partitioner ${kind}, ${why}`;
  return new CodedError('RING_NOT_CONVERTIBLE', message, { details: { ring, partitioner: kind } });
}
