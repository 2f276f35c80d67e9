// Writes plain data as a pickle of protocol 2, which Python unpickles to the same data. Pure.
import type { PickledArray, PickledFloat } from './pickled.ts';

export type Picklable =
  | null
  | boolean
  | number
  | string
  | PickledFloat
  | PickledArray
  | readonly Picklable[]
  | ReadonlyMap<string, Picklable>;

/** Returns a number that is a float in Python even when its value is whole. */
export function float(value: number): PickledFloat {
  return { kind: 'float', value };
}

/** Python's own batch size; an unpickler holds one batch at a time. */
const BATCH = 1_000;
const MARK = Buffer.from('(');

interface Writer {
  readonly parts: Uint8Array[];
  /** A map that occurs twice becomes one object in Python too. */
  readonly memo: Map<ReadonlyMap<string, Picklable>, number>;
}

/** Equal values give equal bytes. Maps keep their order and their identity. */
export function writePickle(value: Picklable): Buffer {
  const writer: Writer = { parts: [Buffer.of(0x80, 2)], memo: new Map() };
  write(writer, value);
  return Buffer.concat([...writer.parts, Buffer.from('.')]);
}

function write(writer: Writer, value: Picklable): void {
  const { parts } = writer;
  if (value === null) parts.push(Buffer.from('N'));
  else if (typeof value === 'boolean') parts.push(Buffer.of(value ? 0x88 : 0x89));
  else if (typeof value === 'number') writeNumber(parts, value);
  else if (typeof value === 'string') parts.push(textBytes(value));
  else if (value instanceof Map) writeMap(writer, value);
  else if ('kind' in value) writeKind(parts, value);
  else if (isList(value)) writeList(writer, value);
}

function writeNumber(parts: Uint8Array[], value: number): void {
  const whole = Number.isSafeInteger(value) && !Object.is(value, -0);
  if (whole) parts.push(numberBytes(value));
  else writeKind(parts, float(value));
}

function isList(value: object): value is readonly Picklable[] {
  return Array.isArray(value);
}

function writeMap(writer: Writer, map: ReadonlyMap<string, Picklable>): void {
  const { parts, memo } = writer;
  const known = memo.get(map);
  if (known !== undefined) {
    parts.push(withUint32('j', known));
    return;
  }
  parts.push(Buffer.from('}'), withUint32('r', memo.size));
  memo.set(map, memo.size);
  if (map.size === 0) return;
  parts.push(MARK);
  for (const [key, member] of map) {
    write(writer, key);
    write(writer, member);
  }
  parts.push(Buffer.from('u'));
}

function writeList(writer: Writer, items: readonly Picklable[]): void {
  writer.parts.push(Buffer.from(']'));
  for (let at = 0; at < items.length; at += BATCH) {
    writer.parts.push(MARK);
    for (const item of items.slice(at, at + BATCH)) write(writer, item);
    writer.parts.push(Buffer.from('e'));
  }
}

function writeKind(parts: Uint8Array[], value: PickledFloat | PickledArray): void {
  if (value.kind === 'float') {
    const bytes = Buffer.alloc(9, 'G');
    bytes.writeDoubleBE(value.value, 1);
    parts.push(bytes);
    return;
  }
  const { items } = value;
  const code = { 1: 'B', 2: 'H', 4: 'I' }[items.BYTES_PER_ELEMENT] ?? 'I';
  parts.push(Buffer.from('carray\narray\n'), textBytes(code), Buffer.from(']'));
  for (let at = 0; at < items.length; at += BATCH) {
    parts.push(MARK, wholeBytes(items.subarray(at, at + BATCH)), Buffer.from('e'));
  }
  parts.push(Buffer.of(0x86), Buffer.from('R'));
}

/** Writes many whole numbers to one buffer: a table has millions. */
function wholeBytes(items: PickledArray['items']): Buffer {
  const bytes = Buffer.allocUnsafe(items.length * 9);
  let at = 0;
  for (const item of items) at += numberBytes(item).copy(bytes, at);
  return bytes.subarray(0, at);
}

function numberBytes(value: number): Buffer {
  if (value >= 0 && value < 256) return Buffer.of(0x4b, value);
  if (value >= 0 && value < 65_536) return Buffer.of(0x4d, value & 255, value >> 8);
  if (value === (value | 0)) {
    const bytes = Buffer.alloc(5, 'J');
    bytes.writeInt32LE(value, 1);
    return bytes;
  }
  const bytes = Buffer.alloc(10);
  bytes.set([0x8a, 8]);
  bytes.writeBigInt64LE(BigInt(value), 2);
  return bytes;
}

function textBytes(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([withUint32('X', bytes.length), bytes]);
}

function withUint32(opcode: string, value: number): Buffer {
  const bytes = Buffer.alloc(5, opcode);
  bytes.writeUInt32LE(value, 1);
  return bytes;
}
