// Imports a ring or builder of Swift as the first version of a ring. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import type { Finding } from '@ringwright/base/finding';
import { minPartHoursMax } from '@ringwright/base/limits';
import type { BuilderDevice, BuilderState } from '@ringwright/builder/state/builder-state';
import { createState } from '@ringwright/builder/state/create-state';
import { firstVersion } from '@ringwright/builder/state/first-version';
import type { ImportedRing } from '@ringwright/builder/state/import-json';
import { HOURS_COUNTED_MAX, runsOfHours } from '@ringwright/builder/state/last-moves';
import { increaseHint, powerIncrease } from '@ringwright/builder/state/steady-power';
import type { LastMoves, SwiftReplicas, SwiftState } from '@ringwright/builder/state/swift-state';
import { deviceIdBytes } from '@ringwright/ring/slot-rows';
import type { SwiftBuilder } from './swift-builder.ts';
import type { SwiftFile } from './swift-file.ts';
import { replicasOfTable, type SwiftRing, slotsOfReplicas } from './swift-ring.ts';

interface SwiftImportSettings {
  readonly ring: string;
  readonly cluster: string;
  /** Hex of the bytes in swift.conf. */
  readonly prefix: string;
  readonly suffix: string;
}

/**
 * Returns version 1 with Swift's table, and a builder state that continues from it. Throws
 * RING_NOT_CONVERTIBLE, NAME_INVALID, and VALUE_OUT_OF_RANGE beyond the limits here. Audit the ring
 * before use.
 */
export function importSwift(file: SwiftFile, settings: SwiftImportSettings): ImportedRing {
  const imported =
    file.kind === 'ring' ? importRing(file.ring, settings) : importBuilder(file.builder, settings);
  const { prefix, suffix } = settings;
  if (prefix !== '' || suffix !== '') return imported;
  const message =
    'no hash prefix or suffix given: a Swift cluster has one in swift.conf, and lookups differ';
  return { ...imported, warnings: [{ code: 'HASH_SALT_MISSING', message }, ...imported.warnings] };
}

function importRing(swift: SwiftRing, settings: SwiftImportSettings): ImportedRing {
  const { version, nextPartPower } = swift;
  const placed = replicasOfTable(swift.table, swift.partPower);
  const longAgo: LastMoves = { epoch: 0, runs: [[2 ** swift.partPower, HOURS_COUNTED_MAX]] };
  const state = stateOf(settings, {
    ...swift,
    replicas: placed,
    minPartHours: 0,
    overload: 0,
    removed: [],
    swift: {
      ...(version === null ? {} : { version }),
      ...power(nextPartPower),
      ...shapeOf(swift, { wanted: placed, placed, int: false }),
      lastMoves: longAgo,
    },
  });
  const message =
    'a ring file has no min_part_hours, overload and last moves: assumed to be 0, 0 and long ' +
    'ago; import the builder file to keep them, or: ring-builder set';
  refuseTwins(swift);
  return {
    ring: firstVersion(state, swift.table),
    state,
    warnings: [{ code: 'SETTINGS_NOT_IN_FILE', message }, ...increasing(state)],
  };
}

function importBuilder(builder: SwiftBuilder, settings: SwiftImportSettings): ImportedRing {
  const { table, partPower, nextPartPower, version, lastMoves, lastMovesEpoch, id } = builder;
  const placed = table === null ? builder.replicas : replicasOfTable(table, partPower);
  const { replicas: wanted, replicasInt: int, minPartHours, dispersion } = builder;
  const swift: SwiftState = {
    version,
    ...power(nextPartPower),
    ...shapeOf(builder, { wanted, placed, int }),
    ...(dispersion === null ? {} : { dispersion }),
    ...(minPartHours > minPartHoursMax ? { minPartHours } : {}),
    ...(id === null ? {} : { id }),
    gatherStart: builder.lastGatherStart,
    changed: builder.changed,
    lastMoves: { epoch: lastMovesEpoch, runs: runsOfHours(lastMoves) },
  };
  const hours = Math.min(minPartHours, minPartHoursMax);
  const state = stateOf(settings, { ...builder, replicas: placed, minPartHours: hours, swift });
  if (table !== null) refuseTwins({ ...builder, table });
  const ring = table === null ? null : firstVersion(state, table);
  const pending = slotsOfReplicas(wanted, partPower) !== Math.round(placed * 2 ** partPower);
  return {
    ring,
    state,
    warnings: [
      ...increasing(state),
      ...(pending ? [replicasPending(builder, placed)] : []),
      ...(minPartHours > HOURS_COUNTED_MAX ? [hoursUncounted(minPartHours, hours)] : []),
    ],
  };
}

type StateParts = Pick<
  SwiftBuilder,
  'partPower' | 'replicas' | 'minPartHours' | 'overload' | 'devices' | 'removed'
> & { readonly swift: SwiftState };

function stateOf(settings: SwiftImportSettings, parts: StateParts): BuilderState {
  const { ring, cluster, prefix, suffix } = settings;
  const { partPower, replicas, minPartHours, overload, swift } = parts;
  const empty = createState({
    ring,
    cluster,
    partitioner: { kind: 'md5-shift', power: partPower, prefix, suffix },
    replicas,
    minPartHours,
    overload,
  });
  const removed = new Set(parts.removed);
  const devices = parts.devices.map((device): BuilderDevice | null =>
    device === null ? null : { ...device, state: removed.has(device.id) ? 'removed' : 'active' },
  );
  return { ...empty, devices, swift };
}

/** Leaves out members that have the default value. */
function shapeOf(
  { devices, idBytes, emptyRow }: Pick<SwiftRing, 'devices' | 'idBytes' | 'emptyRow'>,
  count: Omit<SwiftReplicas, 'emptyRow'>,
): Pick<SwiftState, 'replicas' | 'idBytes'> {
  const isDefault = count.wanted === count.placed && !count.int && !emptyRow;
  return {
    ...(isDefault ? {} : { replicas: { ...count, emptyRow } }),
    ...(idBytes > deviceIdBytes(devices.length) ? { idBytes: 4 } : {}),
  };
}

/** If min_part_hours exceeds Swift's counter, no partition is ever old enough to move in Swift. */
function hoursUncounted(minPartHours: number, hours: number): Finding {
  const message =
    `min_part_hours is ${minPartHours}, Swift counts to ${HOURS_COUNTED_MAX}: it moves nothing ` +
    `again; here a partition may move after ${hours} hours, or when Swift stops counting`;
  return { code: 'MIN_PART_HOURS_UNCOUNTED', message, details: { minPartHours, hours } };
}

function power(nextPartPower: number | null): Pick<SwiftState, 'nextPartPower'> {
  return nextPartPower === null ? {} : { nextPartPower };
}

function increasing(state: BuilderState): Finding[] {
  const reason = powerIncrease(state);
  if (reason === null) return [];
  const message = `${reason}: this ring can be read, but not changed; ${increaseHint}`;
  const nextPartPower = state.swift?.nextPartPower;
  return [{ code: 'PART_POWER_INCREASING', message, details: { nextPartPower } }];
}

function replicasPending({ replicas }: SwiftBuilder, placed: number): Finding {
  const message = `${replicas} replicas expected, ${placed} placed: imported with ${placed}`;
  return { code: 'REPLICAS_PENDING', message, details: { wanted: replicas, placed } };
}

/** Swift puts a partition on a device twice if too few devices have weight for its replicas. */
function refuseTwins({
  table,
  partPower,
  devices,
}: Pick<SwiftRing, 'table' | 'partPower' | 'devices'>): void {
  const lastSeen = new Int32Array(devices.length).fill(-1);
  const twins: { partition: number; device: number }[] = [];
  for (let partition = 0; partition < 2 ** partPower; partition += 1) {
    for (const row of table) {
      const device = row[partition];
      if (device === undefined) continue;
      if (lastSeen[device] === partition) twins.push({ partition, device });
      lastSeen[device] = partition;
    }
  }
  const first = twins[0];
  if (first === undefined) return;
  const count = twins.length;
  throw new CodedError(
    'RING_NOT_CONVERTIBLE',
    `${count} times a device holds two replicas of a partition, first device ${first.device} of ` +
      `partition ${first.partition}; here a device can hold only one`,
    {
      hint: 'in Swift, use at most as many replicas as devices with weight, rebalance, and import again',
      details: { twins: count, ...first },
    },
  );
}
