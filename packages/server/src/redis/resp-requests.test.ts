// The parser of Redis requests, with streams cut at every byte, random bytes, and input over its
// limits.
import { byteText } from '@ringwright/base/as-buffer';
import {
  redisArgumentsMax,
  redisInlineBytesMax,
  redisRequestBytesMax,
  valueBytesMax,
} from '@ringwright/base/limits';
import { seededRandom } from '@ringwright/base/random';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitInline } from './resp-inline.ts';
import { RespProtocolError, RespRequests } from './resp-requests.ts';

const args = fc.array(fc.uint8Array({ maxLength: 40 }), { minLength: 1, maxLength: 6 });

function encode(request: readonly Uint8Array[]): Buffer {
  const parts = request.flatMap((word) => [`$${word.length}\r\n`, word, '\r\n']);
  const pieces = [`*${request.length}\r\n`, ...parts];
  return Buffer.concat(
    pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)),
  );
}

/** Returns all requests of a stream that comes in these pieces, as texts. */
function readAll(pieces: readonly Buffer[]): string[][] {
  const parser = new RespRequests();
  const found: (readonly Uint8Array[])[] = [];
  for (const piece of pieces) {
    parser.push(piece);
    for (let next = parser.next(); next !== null; next = parser.next()) found.push(next);
  }
  // Converted only now: a word must not change when later requests are parsed.
  return found.map((request) => request.map(byteText));
}

/** Cuts the stream at these places. Each piece has its own memory, as a socket's chunks have. */
function cut(stream: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...new Set([...places, stream.length])].sort((a, b) => a - b);
  return ends.map((end, index) => Buffer.from(ownBytes(stream, ends[index - 1] ?? 0, end)));
}

function ownBytes(stream: Buffer, start: number, end: number): ArrayBuffer {
  return Uint8Array.from(stream.subarray(start, end)).buffer;
}

describe('any split of the stream gives the same requests', () => {
  test('at every byte', () => {
    const requests = [
      [Buffer.from('SET'), Buffer.from('a\r\n$3'), Buffer.alloc(0)],
      [Buffer.from('GET')],
    ];
    const stream = Buffer.concat([
      ...requests.map(encode),
      Buffer.from('PING "a b"\r\n\r\n  \n'),
      encode([Buffer.from('ECHO')]),
    ]);
    const wanted = [['SET', 'a\r\n$3', ''], ['GET'], ['PING', 'a b'], ['ECHO']];
    expect(readAll([stream])).toEqual(wanted);
    for (let place = 1; place < stream.length; place += 1) {
      expect(readAll(cut(stream, [place])), `cut at ${place}`).toEqual(wanted);
    }
    const bytes = Array.from({ length: stream.length }, (_, at) => at + 1);
    expect(readAll(cut(stream, bytes)), 'byte by byte').toEqual(wanted);
  });

  test('at random places', () => {
    const places = fc.array(fc.nat(2_000), { maxLength: 12 });
    fc.assert(
      fc.property(fc.array(args, { maxLength: 12 }), places, (requests, where) => {
        const stream = Buffer.concat(requests.map(encode));
        const inside = where.filter((place) => place < stream.length);
        const wanted = requests.map((request) => request.map(byteText));
        expect(readAll(cut(stream, inside))).toEqual(wanted);
      }),
    );
  });
});

test('words before and beside a long word stay valid when the parser reads on', () => {
  const sizes = [0, 3, 2_000, 3_000, 16_384, 40_000];
  for (let seed = 0; seed < 300; seed += 1) {
    const random = seededRandom(seed);
    const word = (): Buffer =>
      Buffer.alloc(sizes[random.below(sizes.length)]!, 97 + random.below(26));
    const requests = Array.from({ length: 1 + random.below(4) }, () =>
      Array.from({ length: 1 + random.below(4) }, word),
    );
    const stream = Buffer.concat(requests.map(encode));
    const places = Array.from({ length: random.below(6) }, () => 1 + random.below(stream.length));
    const wanted = requests.map((request) => request.map(byteText));
    expect(readAll(cut(stream, places)), `seed ${seed}`).toEqual(wanted);
  }
});

describe('bytes that are no request', () => {
  test('random bytes give requests or a protocol error, and nothing else', () => {
    const alphabet = Buffer.from('*$0123456789-\r\n"\'\\x abAB\u0000');
    for (let seed = 0; seed < 3_000; seed += 1) {
      const random = seededRandom(seed);
      const length = 1 + random.below(60);
      const bytes = Buffer.from(
        Array.from({ length }, () =>
          random.below(4) === 0 ? random.below(256) : alphabet[random.below(alphabet.length)]!,
        ),
      );
      const places = Array.from({ length: random.below(5) }, () => 1 + random.below(length));
      try {
        readAll(cut(bytes, places));
      } catch (error) {
        const isTold = error instanceof RespProtocolError;
        expect(isTold, `seed ${seed}: ${byteText(bytes)} -> ${String(error)}`).toBe(true);
      }
    }
  });

  test('a damaged stream gives the requests before the damage', () => {
    const good = encode([Buffer.from('GET'), Buffer.from('a')]);
    const parser = new RespRequests();
    parser.push(Buffer.concat([good, Buffer.from('*1\r\nx')]));
    expect(parser.next()?.map(byteText)).toEqual(['GET', 'a']);
    expect(() => parser.next()).toThrow("expected '$', got 'x'");
  });

  const refused: readonly (readonly [string, string, string])[] = [
    ['too many words', `*${redisArgumentsMax + 1}\r\n`, 'invalid multibulk length'],
    ['a count that is not a number', '*1x\r\n', 'invalid multibulk length'],
    ['a count without end', `*${'1'.repeat(40)}`, 'invalid multibulk length'],
    ['too long a word', `*1\r\n$${redisRequestBytesMax + 1}\r\n`, 'a request of more than'],
    ['a negative length', '*1\r\n$-1\r\n', 'invalid bulk length'],
    ['a length of 2^64', '*1\r\n$18446744073709551616\r\n', 'invalid bulk length'],
    ['a word longer than it says', '*1\r\n$1\r\nab\r\n', 'does not end where its length says'],
    ['a line without end', 'x'.repeat(redisInlineBytesMax + 1), 'too big inline request'],
    [
      'a line that is too long',
      `${'x'.repeat(redisInlineBytesMax + 1)}\n`,
      'too big inline request',
    ],
    ['an open quote', 'SET a "b\r\n', 'unbalanced quotes in request'],
    ['a quote inside a word', 'SET a "b"c\r\n', 'unbalanced quotes in request'],
  ];
  test.each(refused)('are refused: %s', (_name, text, message) => {
    expect(() => readAll([Buffer.from(text)])).toThrow(message);
  });

  test('words with too many bytes in total are refused', () => {
    const parser = new RespRequests();
    const count = redisRequestBytesMax / valueBytesMax + 1;
    parser.push(Buffer.from(`*${count}\r\n`));
    const word = Buffer.concat([
      Buffer.from(`$${valueBytesMax}\r\n`),
      Buffer.alloc(valueBytesMax),
      Buffer.from('\r\n'),
    ]);
    const send = (): void => {
      for (let index = 0; index < count; index += 1) {
        parser.push(Buffer.from(word));
        parser.next();
      }
    };
    expect(send).toThrow(`more than ${redisRequestBytesMax} bytes`);
  });

  test('announced bytes take no memory before they arrive', () => {
    const parser = new RespRequests();
    parser.push(Buffer.from(`*2\r\n$${valueBytesMax}\r\nabc`));
    expect(parser.next()).toBeNull();
    expect(parser.heldBytes).toBe(3);
  });

  test('an empty array and a null array are skipped', () => {
    expect(readAll([Buffer.from('*0\r\n*-1\r\n*1\r\n$1\r\na\r\n')])).toEqual([['a']]);
  });
});

describe('inline requests', () => {
  const lines: readonly (readonly [string, readonly string[] | null])[] = [
    ['', []],
    ['  \t ', []],
    ['set a b', ['set', 'a', 'b']],
    ['set "a b" \'c d\'', ['set', 'a b', 'c d']],
    ['"\\x41\\n\\"\\q"', ['A\n"q']],
    ["'it\\'s \\n'", ["it's \\n"]],
    ['""', ['']],
    ['a"b"', ['ab']],
    ['"a"b', null],
    ["'a", null],
    ['"a\\', null],
    ['"a\\"', null],
  ];
  test.each(lines)('the line %s is split or refused', (line, wanted) => {
    expect(splitInline(Buffer.from(line))?.map(byteText) ?? null).toEqual(wanted);
  });
});

test('a request counts as held while it is incomplete, and no longer', () => {
  const parser = new RespRequests();
  const request = encode([Buffer.from('SET'), Buffer.from('a'), Buffer.alloc(100_000)]);
  parser.push(Buffer.from(request.subarray(0, 50_000)));
  expect(parser.next()).toBeNull();
  expect(parser.begunBytes).toBeGreaterThan(100_000);
  parser.push(Buffer.from(request.subarray(50_000)));
  expect(parser.next()).toHaveLength(3);
  expect(parser.begunBytes).toBe(0);
});
