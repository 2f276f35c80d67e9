// The restricted pickle reader: what it reads, what it refuses, and what it may cost.
import { CodedError } from '@ringwright/base/coded-error';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { resultOrCode } from '../../../test/support/refusal.ts';
import { plainOfPickled } from './plain-of-pickled.ts';
import { readPickle } from './read-pickle.ts';
import { type Picklable, writePickle } from './write-pickle.ts';

const pickle = (text: string): Buffer => Buffer.from(text, 'latin1');
const plain = (text: string): unknown => plainOfPickled(readPickle(pickle(text)));
const codeOf = (bytes: Buffer) => resultOrCode(() => readPickle(bytes));

test.each<[string, unknown]>([
  ['\x80\x02N.', null],
  ['\x80\x02\x88.', true],
  ['\x80\x02K\xff.', 255],
  ['\x80\x02M\xff\xff.', 65_535],
  ['\x80\x02J\xff\xff\xff\xff.', -1],
  ['\x80\x02\x8a\x00.', 0],
  ['\x80\x02\x8a\x06\xff\xff\xff\xff\xff\x1f.', 2 ** 45 - 1],
  ['\x80\x02\x8a\x02\x00\x80.', -32_768],
  ['\x80\x02G\x3f\xf8\x00\x00\x00\x00\x00\x00.', 1.5],
  ['\x80\x02X\x02\x00\x00\x00\xc3\x9f.', 'ß'],
  ['\x80\x02U\x02\xc3\x9f.', 'ß'],
  ['\x80\x02U\x01\xff.', 'ÿ'],
  ['\x80\x02T\x01\x00\x00\x00a.', 'a'],
  ['\x80\x02(K\x01K\x02t.', [1, 2]],
  [
    '\x80\x02]q\x00(K\x01K\x02eh\x00\x86.',
    [
      [1, 2],
      [1, 2],
    ],
  ],
  ['\x80\x02]r\x00\x00\x01\x00K\x05aj\x00\x00\x01\x00\x86.', [[5], [5]]],
  ['\x80\x02}U\x01aK\x01s.', { a: 1 }],
  ['\x80\x02}(U\x01aK\x01)K\x02u.', { a: 1 }],
])('%j is read', (text, wanted) => expect(plain(text)).toEqual(wanted));

test('instances of Swift are read in both protocols', () => {
  const oldest =
    'ccopy_reg\n_reconstructor\n(cswift.common.ring.ring\nRingData\nc__builtin__\nobject\n' +
    'NtR}U\x01aK\x01sb.';
  const newer = '\x80\x02cswift.common.ring.ring\nRingData\n)\x81}U\x01aK\x01sb.';
  const wanted = { kind: 'instance', name: 'swift.common.ring.ring RingData' };
  for (const text of [oldest, newer]) {
    expect(readPickle(pickle(text))).toMatchObject({ ...wanted, members: new Map([['a', 1]]) });
  }
});

test.each([
  ['os system', '\x80\x02cos\nsystem\nX\x02\x00\x00\x00ls\x85R.'],
  ['posix system', 'cposix\nsystem\n(U\x02lstR.'],
  ['builtins eval', '\x80\x02cbuiltins\neval\nX\x01\x00\x00\x001\x85R.'],
  ['a name with a prefix of an allowed one', '\x80\x02carray\narray_reconstructor\n.'],
  ['an array of text', '\x80\x02carray\narray\nX\x01\x00\x00\x00HX\x01\x00\x00\x00a\x86R.'],
  ['an array of a number too large', '\x80\x02carray\narray\nX\x01\x00\x00\x00B](M\x00\x01e\x86R.'],
  ['an array of an unknown type', '\x80\x02carray\narray\nX\x01\x00\x00\x00Q]\x86R.'],
  [
    'an array list asked for again',
    '\x80\x02carray\narray\nX\x01\x00\x00\x00B]q\x00K\x01a\x86Rh\x00\x86.',
  ],
  ['an object of no class of Swift', '\x80\x02c__builtin__\nobject\n)\x81.'],
  ['a class called', '\x80\x02cswift.common.ring.ring\nRingData\n)R.'],
  ['a class with arguments', '\x80\x02cswift.common.ring.ring\nRingData\nK\x01\x85\x81.'],
  ['protocol 4', '\x80\x04N.'],
  ['STACK_GLOBAL', '\x80\x02\x93.'],
  ['INST', '(ios\nsystem\n.'],
  ['EXT1', '\x80\x02\x82\x01.'],
  ['BINPERSID', '\x80\x02K\x01Q.'],
  ['a stack that is empty', '\x80\x02a.'],
  ['a mark that is missing', '\x80\x02t.'],
  ['values below a mark', '\x80\x02]K\x01(a.'],
  ['two values', '\x80\x02NN.'],
  ['an open mark', '\x80\x02N(.'],
  ['a memory of nothing', '\x80\x02h\x07.'],
  ['a key without value', '\x80\x02}(U\x01au.'],
  ['an endless name', `c${'a'.repeat(200)}\n`],
  ['a long number', `\x80\x02\x8a\xff${'\x7f'.repeat(255)}.`],
  ['text that is not UTF-8', '\x80\x02X\x01\x00\x00\x00\xff.'],
])('%s is refused', (_what, text) => expect(codeOf(pickle(text))).toBe('PICKLE_REFUSED'));

test.each([
  ['cut in a number', '\x80\x02J\x00'],
  ['a text of 4 GiB', '\x80\x02X\xff\xff\xff\xff'],
  ['no end', '\x80\x02N'],
  ['bytes after the end', '\x80\x02N.N'],
])('%s is damage', (_what, text) => expect(codeOf(pickle(text))).toBe('SWIFT_FILE_INVALID'));

test('memory is counted before it is allocated', () => {
  const lists = `]q\x00${'('.padEnd(8_001, ']')}e`;
  expect(codeOf(pickle(`\x80\x02${'N'.repeat(2 ** 14 + 1)}`))).toBe('SWIFT_FILE_TOO_LARGE');
  expect(codeOf(pickle(`\x80\x02${'('.repeat(2 ** 14 + 1)}`))).toBe('SWIFT_FILE_TOO_LARGE');
  // Batches into one list: 2.1 million containers of one byte each.
  const batch = `(${']'.repeat(8_000)}e`;
  expect(codeOf(pickle(`\x80\x02${lists}${batch.repeat(262)}.`))).toBe('SWIFT_FILE_TOO_LARGE');
});

test('a value with many references does not grow when it is made plain', () => {
  // Each list contains the previous one twice: 2^40 values in 200 bytes.
  const levels = Array.from({ length: 40 }, (_, at) => {
    const [before, now] = [String.fromCharCode(at), String.fromCharCode(at + 1)];
    return `](h${before}h${before}eq${now}`;
  });
  const value = readPickle(pickle(`\x80\x02(]q\x00${levels.join('')}t.`));
  expect(() => plainOfPickled(value)).toThrow(CodedError);
  const itself = readPickle(pickle('\x80\x02]q\x00h\x00a.'));
  expect(() => plainOfPickled(itself)).toThrow(CodedError);
});

test('a long text that is referenced many times is counted each time', () => {
  const value = readPickle(pickle(`\x80\x02(U\xff${'a'.repeat(255)}q\x00${'h\x00'.repeat(300)}t.`));
  const code = 'SWIFT_FILE_TOO_LARGE';
  expect(() => plainOfPickled(value)).toThrow(expect.objectContaining({ code }));
});

test('objects that are filled again and again are counted each time', () => {
  const members = Array.from({ length: 200 }, (_, at) => `M${String.fromCharCode(at)}\x01`);
  const named = members.map((value, at) => `U\x03${String(at).padStart(3, '0')}${value}`);
  const dict = `}(${named.join('')}u`;
  const one = 'cswift.common.ring.ring\nRingData\nq\x01)q\x02';
  // 200 members for every 6 bytes of the file.
  const again = `h\x01h\x02\x81h\x00b`;
  const batch = `](${again.repeat(2_000)}e`;
  const file = `\x80\x02(${dict}q\x00${one}${batch.repeat(25)}t.`;
  expect(codeOf(pickle(file))).toBe('SWIFT_FILE_TOO_LARGE');
});

test('a written value is read back unchanged', () => {
  const { value } = fc.letrec<{ value: Picklable }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constant(null),
      fc.boolean(),
      fc.maxSafeInteger(),
      fc.double({ noNaN: true }),
      fc.string({ unit: 'binary' }),
      fc.array(tie('value'), { maxLength: 4 }),
      fc
        .dictionary(fc.string(), tie('value'), { maxKeys: 4 })
        .map((o) => new Map(Object.entries(o))),
    ),
  }));
  const plainOf = (one: Picklable): unknown => {
    if (one instanceof Map) return Object.fromEntries([...one].map(([k, v]) => [k, plainOf(v)]));
    return Array.isArray(one) ? one.map(plainOf) : one;
  };
  fc.assert(
    fc.property(value, (one) => {
      expect(plainOfPickled(readPickle(writePickle(one)))).toEqual(plainOf(one));
    }),
    { seed: 4, numRuns: 500 },
  );
});

test('random bytes are refused quickly', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => void codeOf(Buffer.from(bytes))),
    { seed: 4, numRuns: 3_000 },
  );
});

test('a large list of numbers is read as an array', () => {
  const items = Uint16Array.from({ length: 300_000 }, (_, at) => at % 60_000);
  expect(readPickle(writePickle({ kind: 'array', items }))).toEqual({ kind: 'array', items });
});
