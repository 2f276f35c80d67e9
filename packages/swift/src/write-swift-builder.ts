// Writes builder files that swift-ring-builder opens and continues to rebalance. Pure.
import type { Json } from '@ringwright/base/canonical-json';
import { slotsPerDevice } from '@ringwright/builder/plan/plan-devices';
import type { Device } from '@ringwright/ring/device';
import { isList } from './ascii-json.ts';
import type { SwiftBuilder } from './swift-builder.ts';
import { swiftFieldsOf } from './swift-device.ts';
import { float, type Picklable, writePickle } from './write-pickle.ts';

type Members = ReadonlyMap<string, Picklable>;

/**
 * Returns the file, with members in Swift's order. Leaves empty what Swift computes itself: the
 * dispersion graph, and how many partitions each device wants.
 */
export function encodeSwiftBuilder(builder: SwiftBuilder): Buffer {
  const parts = 2 ** builder.partPower;
  const counts = slotsPerDevice(builder.table ?? [], builder.devices.length);
  const devices = builder.devices.map((device): Members | null =>
    device === null ? null : membersOf(device, counts[device.id] ?? 0, parts * builder.replicas),
  );
  const members: [string, Picklable][] = [
    ['part_power', builder.partPower],
    ['next_part_power', builder.nextPartPower],
    ['replicas', builder.replicasInt ? builder.replicas : float(builder.replicas)],
    ['min_part_hours', builder.minPartHours],
    ['parts', parts],
    ['devs', devices],
    ['devs_changed', builder.changed],
    ['version', builder.version],
    ['overload', float(builder.overload)],
    ['_replica2part2dev', rowsOf(builder)],
    ['_last_part_moves_epoch', builder.lastMovesEpoch],
    ['_last_part_moves', { kind: 'array', items: builder.lastMoves }],
    ['_last_part_gather_start', builder.lastGatherStart],
    ['_dispersion_graph', new Map()],
    ['dispersion', builder.dispersion === null ? null : float(builder.dispersion)],
    // These must be the same objects as in `devs`, because Swift marks a removed device in one
    // place only.
    ['_remove_devs', builder.removed.map((id) => devices[id] ?? null)],
    ['id', builder.id],
  ];
  return writePickle(new Map(members));
}

function rowsOf({ table, idBytes, emptyRow }: SwiftBuilder): Picklable {
  if (table === null) return null;
  const rows = emptyRow ? [...table, new Uint16Array(0)] : table;
  return rows.map((row) => ({ kind: 'array', items: idBytes === 4 ? Uint32Array.from(row) : row }));
}

function membersOf(device: Device, parts: number, slots: number): Members {
  const members = swiftFieldsOf(device).map(([name, value]): [string, Picklable] => [
    name,
    name === 'weight' ? float(device.weight) : picklable(value),
  ]);
  const partsWanted = device.weight === 0 ? -Math.floor(slots) : 0;
  return new Map([...members, ['parts', parts], ['parts_wanted', partsWanted]]);
}

function picklable(value: Json): Picklable {
  if (value === null || typeof value !== 'object') return value;
  if (isList(value)) return value.map(picklable);
  return new Map(
    Object.entries(value).flatMap(([name, member]): [string, Picklable][] =>
      member === undefined ? [] : [[name, picklable(member)]],
    ),
  );
}
