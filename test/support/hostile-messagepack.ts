// MessagePack that no Ringwright program writes: extension types, from each of which a decoder may
// build something large.
import { pick, type Random } from '@ringwright/base/random';

/** Returns an extension of a type that is as long as its content. */
function extension(type: number, content: Uint8Array): Buffer {
  const head = Buffer.alloc(6);
  head[0] = 0xc9;
  head.writeUInt32BE(content.length, 1);
  head[5] = type;
  return Buffer.concat([head, content]);
}

const letter = (text: string): number => text.charCodeAt(0);

/** Returns an extension of one byte that says what the following value is turned into. */
const followed = (type: string, value: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([0xd4, letter(type), 0]), value]);

/** Each array has an id and contains the array before it twice, by reference: 2^levels items. */
export function sharedReferences(levels: number): Buffer {
  const reference = (type: string, id: number): Buffer => {
    const bytes = Buffer.from([0xd6, letter(type), 0, 0, 0, 0]);
    bytes.writeUInt32BE(id, 2);
    return bytes;
  };
  const parts: Buffer[] = [Buffer.from([0xdc, levels >> 8, levels & 0xff])];
  for (let id = 1; id <= levels; id += 1) {
    const twice =
      id === 1 ? [Buffer.from([1, 1])] : [reference('p', id - 1), reference('p', id - 1)];
    parts.push(reference('i', id), Buffer.from([0x92]), ...twice);
  }
  return Buffer.concat(parts);
}

/** Every extension that decoders know, all forms of an extension, and 64-bit integers. */
export const extensionValues: readonly (readonly [string, Buffer])[] = [
  ['an Error', followed('e', Buffer.from([0x92, 0xa5, ...Buffer.from('Error'), 0xa1, 65]))],
  ['an AggregateError', followed('e', Buffer.from([0x91, 0xae, ...Buffer.from('AggregateError')]))],
  ['a number of 100,000 bits', extension(letter('B'), Buffer.alloc(12_500, 0xff))],
  ['a pattern', followed('x', Buffer.from([0x92, 0xa4, ...Buffer.from('(a+)'), 0xa0]))],
  ['a set', followed('s', Buffer.from([0x91, 1]))],
  ['a typed array', extension(letter('t'), Buffer.alloc(9, 1))],
  ['bundled texts', extension(letter('b'), Buffer.from([0, 0, 0, 1, 0xa1, 65]))],
  ['a record of names', Buffer.from([0xd4, letter('r'), 0x40, 0x91, 0xa1, 65, 1])],
  ['shared references', sharedReferences(3)],
  ['a date', Buffer.from([0xd6, 0xff, 0, 0, 0, 1])],
  ['a date with nanoseconds', Buffer.from([0xd7, 0xff, 0, 0, 0, 1, 0, 0, 0, 1])],
  ['undefined', Buffer.from([0xd4, 0, 0])],
  ['an extension of 2 bytes', Buffer.from([0xd5, 1, 0, 0])],
  ['an extension of 16 bytes', Buffer.from([0xd8, 1, ...Buffer.alloc(16)])],
  ['an extension of no bytes', Buffer.from([0xc7, 0, 1])],
  ['an extension of 3 bytes', Buffer.from([0xc8, 0, 3, 1, 0, 0, 0])],
  ['the byte that is never used', Buffer.from([0xc1])],
  ['an unsigned integer of 64 bits', Buffer.from([0xcf, 255, 0, 0, 0, 0, 0, 0, 1])],
  ['a signed integer of 64 bits', Buffer.from([0xd3, 128, 0, 0, 0, 0, 0, 0, 1])],
  ['a map of 32 bits', Buffer.from([0xdf, 0, 0, 0, 0])],
];

/** Returns a call with such bytes in its body, or in place of its method or id. */
export function hostileEnvelope(random: Random, method: string, key: string): Buffer {
  const [, value] = pick(random, extensionValues);
  const text = (from: string): Buffer =>
    Buffer.concat([Buffer.from([0xd9, from.length]), Buffer.from(from)]);
  const one = Buffer.from([1]);
  const map = (name: Uint8Array, content: Uint8Array): Buffer =>
    Buffer.concat([Buffer.from([0x81]), name, content]);
  const bombs = Array.from({ length: 1 + random.below(50) }, () => value);
  const bodies = [
    map(text(key), value),
    map(value, one),
    map(text(key), Buffer.concat([Buffer.from([0xdc, 0, bombs.length]), ...bombs])),
    sharedReferences(random.below(1_000)),
    Buffer.concat([Buffer.alloc(random.below(2_000), 0x91), value]),
  ];
  const body = pick(random, bodies);
  const envelope = pick(random, [
    [Buffer.from([0]), one, text(method), body],
    [Buffer.from([0]), one, value, body],
    [Buffer.from([0]), value, text(method), body],
    [Buffer.from([random.below(2) + 1]), one, body],
  ]);
  const end = random.below(2) === 0 ? [one] : [];
  return Buffer.concat([Buffer.from([0x90 + envelope.length]), ...envelope, ...end]);
}
