// Reads a ring in plain JSON, such as a converter for another system writes, as a first version.
// Pure.
// DESIGN.md in this folder documents the form; `ring-builder table RING --json` prints it too.
import { CodedError } from '@ringwright/base/coded-error';
import type { Finding } from '@ringwright/base/finding';
import { deviceCountMax, replicaCountMax } from '@ringwright/base/limits';
import { parseJson } from '@ringwright/base/parse-json';
import { messageOf } from '@ringwright/base/thrown';
import { deviceSchema, firstComplaint } from '@ringwright/ring/device-fields';
import { liveIds } from '@ringwright/ring/partitioner/live-ids';
import { noDeviceIn, type Ring, rowLengths, type SlotRow } from '@ringwright/ring/ring';
import { zeroRow } from '@ringwright/ring/slot-rows';
import { z } from 'zod';
import type { BuilderDevice, BuilderState } from './builder-state.ts';
import { createState } from './create-state.ts';
import { firstVersion } from './first-version.ts';
import { hashIntervalsSchema, rangesSchema } from './interval-schemas.ts';
import { checkPartitioner } from './setting-ranges.ts';

/** `id` is optional: the position in the list is the device id. */
const givenDeviceSchema = z.strictObject({
  ...deviceSchema.shape,
  id: deviceSchema.shape.id.optional(),
  region: deviceSchema.shape.region.default(1),
  zone: deviceSchema.shape.zone.default(1),
  meta: deviceSchema.shape.meta.default(''),
});

const partitionerSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('md5-shift'),
    power: z.int(),
    prefix: z.string().default(''),
    suffix: z.string().default(''),
  }),
  z.strictObject({
    kind: z.literal('murmur3-mod'),
    partitions: z.int(),
    seed: z.int().default(0),
  }),
  hashIntervalsSchema,
  rangesSchema,
]);

const documentSchema = z.strictObject({
  partitioner: partitionerSchema,
  partitions: z.int().optional(),
  replicas: z.number().optional(),
  minPartHours: z.number().default(0),
  overload: z.number().default(0),
  cluster: z.string().min(1).max(128).optional(),
  devices: z.array(givenDeviceSchema.nullable()).max(deviceCountMax),
  // Rows are checked one by one: a schema would run a check of its own for every slot.
  table: z.array(z.unknown()).min(1).max(replicaCountMax).optional(),
  moves: z.array(z.never()).optional(),
  // Fields that `table --json` prints in addition: the ring's name and version, and the intervals.
  intervals: z.unknown().optional(),
  ring: z.string().optional(),
  version: z.int().optional(),
  id: z.string().optional(),
});

type Document = z.infer<typeof documentSchema>;

/**
 * Returns the ring of a document, under this name. Throws IMPORT_FILE_INVALID with the wrong place,
 * NAME_INVALID, VALUE_OUT_OF_RANGE. Audit the ring before use: this function only reads it.
 */
export function importJson(
  text: string,
  { ring, cluster }: { readonly ring: string; readonly cluster: string | undefined },
): ImportedRing {
  const document = parseDocument(text);
  const { minPartHours, overload, partitioner } = document;
  const partitions = checkPartitioner(partitioner);
  if ((document.partitions ?? partitions) !== partitions) {
    throw invalid(
      `partitions is ${document.partitions}, but ${partitioner.kind} makes ${partitions}`,
    );
  }
  const devices = document.devices.map((device, id): BuilderDevice | null => {
    if (device === null) return null;
    if ((device.id ?? id) !== id)
      throw invalid(`devices.${id} has id ${device.id}, expected ${id}`);
    return { ...device, id, state: 'active' };
  });
  const table = tableOf(document, partitions);
  const replicas = replicasOf(document, table, partitions);
  const settings = {
    ring,
    cluster: cluster ?? document.cluster ?? 'default',
    partitioner,
    replicas,
  };
  const state: BuilderState = { ...createState({ ...settings, minPartHours, overload }), devices };
  if (table === null) return { ring: null, state, warnings: [] };
  return { ring: firstVersion(state, table), state, warnings: [] };
}

function parseDocument(text: string): Document {
  const value = parseJson(text, (cause) => invalid(`not JSON: ${messageOf(cause)}`));
  const parsed = documentSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalid(firstComplaint(parsed.error));
}

function tableOf(document: Document, partitions: number): SlotRow[] | null {
  if (document.table === undefined) return null;
  const { devices, table } = document;
  // Partitions that were split, merged or retired have no devices.
  const live = liveIds(document.partitioner);
  return table.map((row, replica) => {
    const path = `table.${replica}`;
    if (!Array.isArray(row)) throw invalid(`${path} is not a list of device ids`);
    const last = replica === table.length - 1;
    if (row.length > partitions || row.length < (last ? 1 : partitions)) {
      throw invalid(`${path} has ${row.length} slots, expected ${partitions}`);
    }
    const newRow = zeroRow(row.length, devices.length);
    row.forEach((id: unknown, partition) => {
      if (id === null && live !== null && live[partition] !== 1) {
        newRow[partition] = noDeviceIn(newRow);
        return;
      }
      if (typeof id !== 'number' || !Number.isInteger(id) || (devices[id] ?? null) === null) {
        throw invalid(`${path}.${partition} is ${JSON.stringify(id)}, which is not a device id`);
      }
      newRow[partition] = id;
    });
    return newRow;
  });
}

/** Returns the replica count. The table, if present, determines it; a stated count must agree. */
function replicasOf(document: Document, table: SlotRow[] | null, partitions: number): number {
  const declared = document.replicas;
  if (table === null) {
    if (declared === undefined)
      throw invalid('replicas is missing, and there is no table to derive it from');
    return declared;
  }
  const slots = table.reduce((sum, row) => sum + row.length, 0);
  const replicas = declared ?? slots / partitions;
  if (replicas <= 0) throw invalid(`there are ${replicas} replicas`);
  const expected = rowLengths(partitions, Math.min(replicas, replicaCountMax)).join(', ');
  const found = table.map((row) => row.length).join(', ');
  if (found !== expected)
    throw invalid(`table has rows of ${found} slots, but ${replicas} replicas need ${expected}`);
  return replicas;
}

function invalid(complaint: string): CodedError {
  return new CodedError('IMPORT_FILE_INVALID', `ring in JSON: ${complaint}`, {
    hint: 'ring-builder import --help describes the form; table --json of a ring prints it',
    details: { complaint },
  });
}

export interface ImportedRing {
  /** Null when the source has devices but has not placed any partition yet. */
  readonly ring: Ring | null;
  readonly state: BuilderState;
  readonly warnings: readonly Finding[];
}
