// Parses devices from pairs, flags, a JSON array or CSV. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { typedCharactersMax } from '@ringwright/base/limits-commands';
import { parseJson } from '@ringwright/base/parse-json';
import { type Address, isWholeAddress, splitAddress } from '@ringwright/base/server-address';
import { shortened } from '@ringwright/base/shortened';
import { messageOf } from '@ringwright/base/thrown';
import type { Device } from '@ringwright/ring/device';
import { deviceAddressSchema, firstComplaint } from '@ringwright/ring/device-fields';
import { parseDevice } from '@ringwright/ring/parse-device';
import { z } from 'zod';
import { parseNumber, usage } from '../../cli/arguments.ts';

export type NewDevice = Omit<Device, 'id'>;

const optional = ['key', 'replication'] as const;
const columns = [
  ...(['region', 'zone', 'ip', 'port', 'device', 'weight', 'meta'] as const),
  ...optional,
] as const;
/** Of a line of CSV. The longest field of a device has 8,192, and each may be a doubled quote. */
const LINE_CHARACTERS_MAX = 64 * 1024;
const numeric = ['region', 'zone', 'port', 'weight'] as const;

/** The builder checks the range of weights and names it in its error. */
const newDeviceSchema = z.strictObject({
  ...deviceAddressSchema.shape,
  meta: deviceAddressSchema.shape.meta.default(''),
  weight: z.number(),
});

/** Parses devices and weights in turn: `r1z2-10.0.0.1:6200/sdb 100 …`. */
export function devicesOfPairs(args: readonly string[]): NewDevice[] {
  if (args.length % 2 === 1) {
    throw usage(
      `${counted(args.length, 'word')}, expected pairs of device and weight: ${args.at(-1)} has no weight`,
      'ring-builder add RING r1z2-10.0.0.1:6200/sdb 100',
    );
  }
  const devices: NewDevice[] = [];
  for (let at = 0; at < args.length; at += 2) {
    const [device = '', weight = ''] = args.slice(at, at + 2);
    devices.push({
      ...parseDevice(device),
      weight: parseNumber(weight, 'weight', `weight of ${device}`),
    });
  }
  return devices;
}

/** Parses a file: a JSON array of objects, or CSV with a header line. */
export function devicesOfFile(content: string, name: string): NewDevice[] {
  const rows = content.trimStart().startsWith('[')
    ? rowsOfJson(content, name)
    : rowsOfCsv(content, name);
  if (rows.length === 0) throw invalid(name, 'holds no devices');
  return rows.map(({ where, value }) => checkDevice(value, where));
}

/** Throws USAGE if the port is missing or the address is invalid. */
export function replicationOf(written: string, what = '--replication-address'): Address {
  if (isWholeAddress(written)) return splitAddress(written.toLowerCase());
  const typed = JSON.stringify(shortened(written, typedCharactersMax));
  throw usage(`${what} ${typed}: expected IP:PORT, such as 10.1.0.1:6300 or [fd00::1]:6300`);
}

/** Throws DEVICE_INVALID with the place in the input and the wrong field. */
export function checkDevice(value: unknown, where: string): NewDevice {
  const parsed = newDeviceSchema.safeParse(value, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw invalid(where, `has an invalid ${firstComplaint(parsed.error)}`);
}

interface Row {
  readonly where: string;
  readonly value: unknown;
}

function rowsOfJson(content: string, name: string): Row[] {
  const rows = parseJson(content, (cause) => invalid(name, `is not JSON: ${messageOf(cause)}`));
  // The text begins with [, so the parsed value is an array.
  return (rows as unknown[]).map((value, at) => ({ where: `${name}, element ${at + 1}`, value }));
}

function rowsOfCsv(content: string, name: string): Row[] {
  const lines = content.replace(/^\ufeff/, '').split(/\r?\n/);
  const long = lines.findIndex((line) => line.length > LINE_CHARACTERS_MAX);
  if (long !== -1) {
    const found = `has ${lines[long]?.length} characters, at most ${LINE_CHARACTERS_MAX} are read`;
    throw invalid(`${name}, line ${long + 1}`, found);
  }
  const heads = cellsOf(lines[0] ?? '');
  const unknown = heads.find((head) => !columns.some((column) => column === head));
  if (unknown !== undefined) {
    const wanted = `expected names out of ${columns.join(', ')}`;
    throw invalid(`${name}, line 1`, `has column ${JSON.stringify(unknown)}, ${wanted}`);
  }
  return lines.flatMap((line, at): Row[] => {
    if (at === 0 || line.trim() === '') return [];
    const where = `${name}, line ${at + 1}`;
    const cells = cellsOf(line);
    if (cells.length !== heads.length) {
      throw invalid(where, `has ${counted(cells.length, 'cell')}, expected ${heads.length}`);
    }
    const members = heads.flatMap((head, column): [string, string | number | Address][] => {
      const cell = cells[column] ?? '';
      if (optional.some((name) => name === head) && cell === '') return [];
      if (head === 'replication') return [[head, replicationOf(cell, `${where}: ${head}`)]];
      const number = numeric.find((name) => name === head);
      return [[head, number === undefined ? cell : parseNumber(cell, number, `${where}: ${head}`)]];
    });
    return [{ where, value: Object.fromEntries(members) }];
  });
}

/** Splits a CSV line. A cell in double quotes may contain commas, and "" for a quote. */
function cellsOf(line: string): string[] {
  const cells: string[] = [];
  for (const match of line.matchAll(/(?:^|,)(?:\s*"((?:[^"]|"")*)"\s*|([^,]*))/g)) {
    cells.push(match[1]?.replaceAll('""', '"') ?? (match[2] ?? '').trim());
  }
  return cells;
}

function invalid(where: string, complaint: string): CodedError {
  return new CodedError('DEVICE_INVALID', `${where} ${complaint}`, {
    hint: `ring-builder add --help; a device has ${columns.join(', ')}`,
    details: { where },
  });
}
