// Hostile input: bytes and values made to break parsers, from a seed.
import { pick, type Random } from '@ringwright/base/random';
import type { hello } from '@ringwright/wire/hello';
import type { RequestOf } from '@ringwright/wire/message';
import { wireVersion } from '@ringwright/wire/wire-version';

/** A parser may stop reading long before this, and must not keep it all. */
const bombBytes = 1_000_000;
const mutationsMax = 4;

export function randomBytes(random: Random, lengthMax: number): Buffer {
  const bytes = Buffer.alloc(random.below(lengthMax + 1));
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = random.below(256);
  return bytes;
}

/** Returns the bytes with a few of them flipped, cut out, doubled, or cut off at the end. */
export function mutated(random: Random, bytes: Uint8Array): Buffer {
  let result = Buffer.from(bytes);
  for (let left = random.below(mutationsMax + 1); left > 0; left -= 1) {
    const at = random.below(result.length + 1);
    const end = Math.min(result.length, at + random.below(16));
    const before = result.subarray(0, at);
    const changes = [
      () => [before, Buffer.from([random.below(256)]), result.subarray(at + 1)],
      () => [before, result.subarray(end)],
      () => [result.subarray(0, end), result.subarray(at)],
      () => [before],
      () => [before, randomBytes(random, 32), result.subarray(at)],
    ];
    result = Buffer.concat(pick(random, changes)());
  }
  return result;
}

/** Returns a value of any kind that a field of a message should not have. */
export function hostileValue(random: Random): unknown {
  const values: (() => unknown)[] = [
    () => -1,
    () => 2 ** 53,
    () => 0.5,
    () => Number.NaN,
    () => Number.POSITIVE_INFINITY,
    () => null,
    () => true,
    () => '',
    () => '../../etc/passwd',
    () => '__proto__',
    () => 'a\u0000b\u001b[2J',
    () => '\ud800',
    () => 'x'.repeat(10_000),
    () => Buffer.alloc(0),
    () => Buffer.alloc(bombBytes / 10),
    () => [],
    () => Array.from({ length: 10_000 }, () => 0),
    () => nested(1_000),
    () => JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":1}}') as unknown,
    () => randomBytes(random, 64),
  ];
  return pick(random, values)();
}

function nested(depth: number): unknown {
  let value: unknown = 0;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}

/** What a lying peer knows of the server that it calls. */
interface Victim {
  readonly born: string;
  readonly addresses: readonly string[];
  readonly nowMs: number;
}

/** Returns a hello of the right form in which nothing is true. */
export function lyingHello(random: Random, victim: Victim): RequestOf<typeof hello> {
  const life = () => ({
    born: pick(random, [victim.born, victim.born, 'x']),
    age: pick(random, [0, 2, 3, 1_000, 2 ** 40, Number.MAX_SAFE_INTEGER]),
    mark: String(random.below(10)),
  });
  const ring = () => ({
    keyspace: `invented${random.below(1_000)}`,
    version: 1 + random.below(1_000),
    id: String(random.below(10)).repeat(64),
    signers: random.below(16),
  });
  return {
    wireVersion,
    address: pick(random, victim.addresses),
    life: random.below(4) === 0 ? null : life(),
    settled: random.below(2) === 0,
    ms: pick(random, [0, victim.nowMs + 59_000, 2 ** 48 - 1]),
    rings: Array.from({ length: pick(random, [0, 1, 24, 1_000]) }, ring),
    remembered: random.below(4) === 0 ? null : life(),
    access: random.below(4) === 0 ? null : { epoch: 1, version: 1 + random.below(1_000) },
  };
}

/** Returns an HTTP request that is nearly valid, or not at all. */
export function hostileHttp(random: Random, path: string): Buffer {
  const head = (...lines: string[]): Buffer => Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
  const host = 'Host: localhost';
  const requests: (() => Buffer)[] = [
    () => head(`PUT ${path} HTTP/1.1`, host, 'Content-Length: 3', 'Transfer-Encoding: chunked'),
    () => head(`PUT ${path} HTTP/1.1`, host, 'Content-Length: 99999999999999999999'),
    () => head(`PUT ${path} HTTP/1.1`, host, 'Content-Length: 5', 'Content-Length: 6'),
    () => head(`PUT ${path} HTTP/1.1`, host, 'Transfer-Encoding: chunked', '', 'FFFFFFFFFFFFFFFF'),
    () =>
      head(`PUT ${path}2 HTTP/1.1`, host, 'Content-Encoding: gzip', 'Content-Length: 2', '', 'xx'),
    () =>
      head(`GET ${path} HTTP/1.1`, host, ...Array.from({ length: 5_000 }, (_, n) => `a${n}: b`)),
    () => head(`GET /v1/${'%2e%2e%2f'.repeat(2_000)} HTTP/1.1`, host),
    () => head(`GET /v1/${'a'.repeat(100_000)} HTTP/1.1`, host),
    () => head(`GET ${path}?consistency=__proto__ HTTP/1.1`, host, 'If-None-Match: "\u0001"'),
    () =>
      head(
        `POST /v1/_batch/notes HTTP/1.1`,
        ...[host, 'Content-Type: application/json', 'Content-Length: 20'],
        ...['', '{"__proto__":[[[['],
      ),
    () => head(`GET /v1/wire HTTP/1.1`, host, 'Upgrade: websocket', 'Connection: Upgrade'),
    () => head(`GET ${path} HTTP/9.9`, host),
    () => head(`GET ${path} HTTP/1.1`, host, 'Host: 127.0.0.1'),
    () => head(`GET ${path} HTTP/1.1`, `Host: ${'a.'.repeat(2_000)}:6200`),
    () => head(`PUT ${path} HTTP/1.1`, host, 'Origin: null', 'Sec-Fetch-Site: cross-site'),
    () => Buffer.from(`GET ${path}\r\n\r\n`),
    () => Buffer.concat([head(`GET ${path} HTTP/1.1`, host), randomBytes(random, 200)]),
    () => randomBytes(random, 500),
    () => Buffer.alloc(bombBytes, 'A'),
  ];
  return mutated(random, pick(random, requests)());
}

/**
 * Returns a masked frame of the WebSocket protocol, as a client sends it, with a true or false
 * length.
 */
export function webSocketFrame(random: Random, payload: Uint8Array): Buffer {
  const opcode = pick(random, [0, 1, 2, 2, 2, 8, 9, 10, 3, 15]);
  const told = pick(random, [payload.length, payload.length, 0, 2 ** 40]);
  const header = Buffer.alloc(14);
  header[0] = (random.below(4) === 0 ? 0 : 0x80) | opcode | (random.below(8) === 0 ? 0x40 : 0);
  header[1] = (random.below(8) === 0 ? 0 : 0x80) | 127;
  header.writeBigUInt64BE(BigInt(told), 2);
  return Buffer.concat([header, payload]); // the mask is zero: the payload stays as it is
}

/** Returns a whole binary message of a client. The mask is zero: the payload stays as it is. */
export function binaryMessage(payload: Uint8Array): Buffer {
  const header = Buffer.alloc(14);
  header[0] = 0x82;
  header[1] = 0xff;
  header.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([header, payload]);
}

/** Returns a Redis request in which not every number is true. */
export function hostileRedis(random: Random): Buffer {
  const words = ['GET', 'SET', 'MSET', 'DEL', 'SCAN', 'HELLO', 'CLIENT', 'CONFIG', '', 'a'];
  const count = pick(random, [0, 1, 2, 3, -1, 2 ** 31, 1_000_000]);
  const word = (): string => {
    const text = pick(random, words);
    const length = pick(random, [text.length, text.length, text.length, -1, 2 ** 40, 3]);
    return `$${length}\r\n${text}\r\n`;
  };
  const array = `*${count}\r\n${Array.from({ length: 1 + random.below(4) }, word).join('')}`;
  const inline = `${pick(random, words)} "${'x'.repeat(random.below(100))}\r\n`;
  const sent = pick(random, [
    array,
    array,
    inline,
    `*${'9'.repeat(1_000)}\r\n`,
    'a'.repeat(bombBytes),
  ]);
  return mutated(random, Buffer.from(sent));
}
