// Swift's builder files: a pickle of a dictionary, or of a RingBuilder in the oldest. Pure.
import { asBuffer } from '@ringwright/base/as-buffer';
import { replicaCountMax, swiftPayloadBytesMax } from '@ringwright/base/limits';
import type { Pickled } from './pickled.ts';
import { kindOf, numberOf } from './pickled.ts';
import {
  devices,
  type Fields,
  fieldsOf,
  items,
  optionalNumber,
  optionalWhole,
  rows,
  whole,
} from './pickled-fields.ts';
import { readPickle } from './read-pickle.ts';
import type { SwiftBuilder } from './swift-builder.ts';
import { swiftInvalid, swiftTooLarge, swiftUnfit } from './swift-file-error.ts';
import { requirePartPower, tableAndShape } from './swift-ring.ts';

const anyWhole = [0, Number.MAX_SAFE_INTEGER] as const;
const HOURS_MAX = 255;

/**
 * Returns the builder of a file. An import checks whether its settings are within our own limits.
 * Throws PICKLE_REFUSED, SWIFT_FILE_INVALID, SWIFT_FILE_TOO_LARGE.
 */
export function decodeSwiftBuilder(file: Uint8Array): SwiftBuilder {
  if (file.length > swiftPayloadBytesMax) {
    throw swiftTooLarge('bytes of the file', file.length, swiftPayloadBytesMax);
  }
  const bytes = asBuffer(file);
  const fields = fieldsOf(readPickle(bytes), 'RingBuilder');
  const partPower = whole(fields, 'part_power', [0, 32]);
  requirePartPower(partPower);
  const parts = whole(fields, 'parts', anyWhole);
  if (parts !== 2 ** partPower) throw swiftInvalid('parts', parts, 2 ** partPower);
  const list = devices(fields);
  const shaped = tableOf(fields, { partPower, devices: list });
  checkCounts(fields, shaped.table);
  const replicas = optionalNumber(fields, 'replicas', [1, Number.MAX_VALUE]);
  if (replicas === null) throw swiftInvalid('replicas', 'absent', `1 to ${replicaCountMax}`);
  if (replicas > replicaCountMax) {
    throw swiftUnfit('replicas', `${replicas}, rings here have 1 to ${replicaCountMax}`);
  }
  return {
    partPower,
    nextPartPower: optionalWhole(fields, 'next_part_power', [0, 32]),
    version: whole(fields, 'version', anyWhole),
    replicas,
    replicasInt: typeof fields.get('replicas') === 'number' && Number.isInteger(replicas),
    minPartHours: whole(fields, 'min_part_hours', anyWhole),
    overload: optionalNumber(fields, 'overload', [0, Number.MAX_VALUE]) ?? 0,
    devices: list,
    ...shaped,
    removed: removedOf(fields, list),
    lastMoves: lastMovesOf(fields, parts),
    lastMovesEpoch: Math.floor(optionalNumber(fields, '_last_part_moves_epoch', anyWhole) ?? 0),
    lastGatherStart: optionalWhole(fields, '_last_part_gather_start', anyWhole) ?? 0,
    changed: fields.get('devs_changed') === true,
    dispersion: optionalNumber(fields, 'dispersion', [0, Number.MAX_VALUE]),
    id: idOf(fields.get('id') ?? fields.get('_id') ?? null),
  };
}

function tableOf(
  fields: Fields,
  builder: Pick<SwiftBuilder, 'partPower' | 'devices'>,
): Pick<SwiftBuilder, 'table' | 'idBytes' | 'emptyRow'> {
  const name = '_replica2part2dev';
  if ((fields.get(name) ?? null) === null) return { table: null, idBytes: 2, emptyRow: false };
  return tableAndShape(rows(fields, name), builder);
}

/** A builder stores the slot count of each device beside the table: comparing them checks both. */
function checkCounts(fields: Fields, table: SwiftBuilder['table']): void {
  const list = items(fields, 'devs');
  const counts = new Uint32Array(list.length);
  for (const row of table ?? []) for (const id of row) counts[id] = (counts[id] ?? 0) + 1;
  for (const [id, device] of list.entries()) {
    const noted = isDict(device) ? device.members.get('parts') : undefined;
    if (noted === undefined || numberOf(noted) === counts[id]) continue;
    throw swiftInvalid(`parts of device ${id}`, shown(noted), `${counts[id]}, as in the table`);
  }
}

function isDict(value: Pickled): value is Extract<Pickled, { readonly kind: 'dict' }> {
  return typeof value === 'object' && value?.kind === 'dict';
}

function removedOf(fields: Fields, list: SwiftBuilder['devices']): number[] {
  return items(fields, '_remove_devs').map((device, index) => {
    const id = isDict(device) ? device.members.get('id') : undefined;
    if (typeof id === 'number' && (list[id] ?? null) !== null) return id;
    throw swiftInvalid(`removed device ${index}`, kindOf(device), 'one of the devices');
  });
}

/** An array of bytes; a list of numbers after Swift raised the partition power. */
function lastMovesOf(fields: Fields, parts: number): Uint8Array {
  const value = fields.get('_last_part_moves') ?? null;
  if (value === null) return new Uint8Array(parts);
  const found = typeof value === 'object' && value.kind === 'array' ? value.items : null;
  const hours: readonly Pickled[] | Uint8Array =
    found instanceof Uint8Array ? found : items(fields, '_last_part_moves');
  if (hours.length !== parts) throw swiftInvalid('length of _last_part_moves', hours.length, parts);
  return Uint8Array.from(hours, (hour) => {
    if (typeof hour === 'number' && hour >= 0 && hour <= HOURS_MAX) return hour;
    throw swiftInvalid('an hour of _last_part_moves', shown(hour), `0 to ${HOURS_MAX}`);
  });
}

function shown(value: Pickled): string {
  return String(numberOf(value) ?? kindOf(value));
}

function idOf(value: Pickled): string | null {
  if (value === null || (typeof value === 'string' && value.length <= 128)) return value;
  throw swiftInvalid('id', kindOf(value), 'text or None');
}
