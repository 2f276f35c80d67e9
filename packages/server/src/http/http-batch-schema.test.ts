// Tests the bodies of batches: what is read, and what makes the whole batch be refused.

import { byteText } from '@ringwright/base/as-buffer';
import { CodedError } from '@ringwright/base/coded-error';
import { httpBatchItemsMax, keyBytesMax, valueBytesMax } from '@ringwright/base/limits';
import { seededRandom } from '@ringwright/base/random';
import { expect, onTestFinished, test, vi } from 'vitest';
import { parseBatch } from './http-batch-schema.ts';

const parse = (document: unknown): ReturnType<typeof parseBatch> =>
  parseBatch(Buffer.from(JSON.stringify(document)));

test('keys and values are read as text or as base64', () => {
  const items = parse({
    items: [
      { op: 'put', key: 'ä', value: '' },
      { op: 'put', key64: 'AP8=', value64: '/wA=' },
      { op: 'get', key: 'b' },
      { op: 'delete', key: '__proto__' },
    ],
  });
  expect(items.map(({ op }) => op)).toEqual(['put', 'put', 'get', 'delete']);
  expect(items.map(({ key }) => byteText(key))).toEqual(['Ã¤', '\u0000ÿ', 'b', '__proto__']);
  expect(items.map(({ value }) => value?.length ?? null)).toEqual([0, 2, null, null]);
});

const item = { op: 'get', key: 'a' };
test.each<readonly [string, unknown, string]>([
  ['no items', { items: [] }, 'USAGE'],
  ['a list as the body', [item], 'USAGE'],
  ['too many items', { items: Array(httpBatchItemsMax + 1).fill(item) }, 'BATCH_TOO_LARGE'],
  ['the same key twice', { items: [item, { op: 'delete', key64: 'YQ==' }] }, 'USAGE'],
  ['an item without a key', { items: [{ op: 'get' }] }, 'USAGE'],
  ['two keys in one item', { items: [{ op: 'get', key: 'a', key64: 'YQ==' }] }, 'USAGE'],
  ['an empty key', { items: [{ op: 'get', key: '' }] }, 'KEY_INVALID'],
  ['too long a key', { items: [{ op: 'get', key: 'x'.repeat(keyBytesMax + 1) }] }, 'KEY_INVALID'],
  ['a put without a value', { items: [{ op: 'put', key: 'a' }] }, 'USAGE'],
  ['a value for a get', { items: [{ ...item, value: 'b' }] }, 'USAGE'],
  ['bad base64', { items: [{ op: 'get', key64: '!!' }] }, 'USAGE'],
  ['an unknown operation', { items: [{ op: 'cas', key: 'a' }] }, 'USAGE'],
  ['an unknown field', { items: [item], more: 1 }, 'USAGE'],
  [
    'too long a value',
    { items: [{ op: 'put', key: 'a', value: 'x'.repeat(valueBytesMax + 1) }] },
    'VALUE_TOO_LARGE',
  ],
])('a batch with %s is refused', (_name, document, code) => {
  expect(() => parse(document)).toThrow(expect.objectContaining({ code }));
});

const half = (place: string) => `${place}: is not text: send its bytes in base64, as`;
test.each([
  ['a value not in UTF-8', '{"op":"put","key":"a","value":"\xff\xfe"}', 'the body is not UTF-8'],
  ['a key not in UTF-8', '{"op":"get","key":"\xff"}', 'the body is not UTF-8'],
  [
    'a lone surrogate',
    '{"op":"put","key":"a","value":"\\ud800"}',
    `${half('items.0.value')} value64`,
  ],
  ['a lone surrogate as key', '{"op":"get","key":"\\ud800"}', `${half('items.0.key')} key64`],
])('%s is refused instead of being stored in another form', (...[, item, message]) => {
  const body = Buffer.from(`{"items":[${item}]}`, 'latin1');
  const refusal = { code: 'USAGE', message, hint: expect.stringContaining('key64') };
  expect(() => parseBatch(body)).toThrow(expect.objectContaining(refusal));
});

test.each([
  [{ ttl: 0 }, 'items.0.ttl: expected more than 0'],
  [{ if: 'bogus' }, 'items.0.if: is neither absent, present nor the stamp or ETag of a record'],
  [{ if: 5 }, 'items.0.if: expected a text'],
  [{ op: 'cas' }, 'items.0.op: expected get, delete, put'],
  [{ key64: 'A' }, 'items.0.key64: is not base64: A-Z a-z 0-9 + / as in YQ=='],
])('the refusal of %j says what is wrong', (fields, message) => {
  const put = { op: 'put', key: 'a', value: 'v', ...fields };
  expect(() => parse({ items: [put] })).toThrow(
    expect.objectContaining({ code: 'USAGE', message }),
  );
});

test('a condition names a record by its stamp or its ETag', () => {
  const stamp = { ms: 12, tie: 3 * 2 ** 24 + 4 };
  for (const text of ['12.3.4', '"12.3.4"', 'W/"12.3.4"']) {
    expect(parse({ items: [{ op: 'delete', key: 'a', if: text }] })).toMatchObject([
      { condition: stamp },
    ]);
  }
});

test('base64 is read with and without padding', () => {
  const items = ['YQ==', 'YWI=', 'YWJj', 'ZA', 'ZGU'].map((key64) => ({ op: 'get', key64 }));
  const keys = parse({ items }).map(({ key }) => byteText(key));
  expect(keys).toEqual(['a', 'ab', 'abc', 'd', 'de']);
});

test('deep nesting, broken JSON and prototype fields are refused', () => {
  const deep = '['.repeat(5_000);
  for (const body of ['', '{', 'null', '1e400', deep, '{"items":[{"__proto__":{"op":"get"}}]}']) {
    expect(() => parseBatch(Buffer.from(body))).toThrow(expect.objectContaining({ code: 'USAGE' }));
  }
});

test('a corrupted body is read or refused with a CodedError', () => {
  const body = Buffer.from(
    '{"items":[{"op":"put","key":"a","value64":"AAAA"},{"op":"get","key":"b"}]}',
  );
  for (let seed = 0; seed < 2_000; seed += 1) {
    const random = seededRandom(seed);
    const changed = Buffer.from(body);
    for (let times = 0; times < 3; times += 1)
      changed[random.below(body.length)] = random.below(256);
    try {
      parseBatch(changed);
    } catch (error) {
      expect(error instanceof CodedError, `seed ${seed}: ${String(error)}`).toBe(true);
    }
  }
});

test.each([
  ['objects', `{"items":[${'{},'.repeat(20_000)}{}]}`],
  ['numbers', `{"items":[${'0,'.repeat(20_000)}0]}`],
  ['lists in lists', `{"items":${'['.repeat(20_000)}${']'.repeat(20_000)}}`],
  ['fields', `{"items":[{"op":"get"${',"key":"a"'.repeat(20_000)}}]}`],
])('more %s than a batch can have are refused before the JSON is parsed', (_, body) => {
  const parse = vi.spyOn(JSON, 'parse');
  onTestFinished(() => parse.mockRestore());
  expect(() => parseBatch(Buffer.from(body))).toThrow(
    expect.objectContaining({ code: 'BATCH_TOO_LARGE' }),
  );
  expect(parse).not.toHaveBeenCalled();
});

test('punctuation in strings is not counted, and the largest batch is read', () => {
  const value = `${'{[,'.repeat(1_000)}"\\"`;
  const whole = (index: number) => ({ op: 'put', key: `k${index}`, value, ttl: 1, if: 'absent' });
  const items = Array.from({ length: httpBatchItemsMax }, (_, index) => whole(index));
  const [first] = parseBatch(Buffer.from(JSON.stringify({ items })));
  expect(Buffer.from(first?.value ?? '').toString()).toBe(value);
});
