// Tests conditional requests: ETags, lists of ETags, and which records a write may replace.
import { makeStamp } from '@ringwright/base/stamp';
import { expect, test } from 'vitest';
import { checkRead, writeCondition } from './http-keys.ts';
import { etagOf } from './key-request.ts';

const stamp = makeStamp(1_700_000_000_000, 3, 9);
const tag = '"1700000000000.3.9"';

test('the ETag of a record is its stamp', () => {
  expect(etagOf(stamp)).toBe(tag);
});

test.each([
  [tag, 'same'],
  [`W/${tag}`, 'same'],
  [`"1.0.0" , ${tag}`, 'same'],
  ['*', 'same'],
  ['"1700000000000.3.8"', 'whole'],
])('a read with If-None-Match: %s is answered as %s', (header, wanted) => {
  expect(checkRead({ 'if-none-match': header }, stamp)).toBe(wanted);
});

test.each(['1700000000000.3.9', '', 'garbage', '"a", b', '"a'])('ETag %j is refused', (header) => {
  const refusal = expect.objectContaining({ code: 'USAGE', http: 400 });
  for (const name of ['if-match', 'if-none-match']) {
    expect(() => writeCondition({ [name]: header }), name).toThrow(refusal);
    expect(() => checkRead({ [name]: header }, stamp), name).toThrow(refusal);
  }
});

test('a condition of * does not match a missing record', () => {
  expect(checkRead({ 'if-none-match': '*' }, null)).toBe('whole');
  expect(() => checkRead({ 'if-match': '*' }, null)).toThrow('there is no record');
});

test('a read with If-Match is refused unless it names the record', () => {
  expect(checkRead({ 'if-match': tag }, stamp)).toBe('whole');
  expect(checkRead({ 'if-match': '*' }, stamp)).toBe('whole');
  const refusal = expect.objectContaining({ code: 'PRECONDITION_FAILED', http: 412 });
  expect(() => checkRead({ 'if-match': '"1.0.0"' }, stamp)).toThrow(refusal);
});

test.each<[string, Record<string, string>, boolean, boolean]>([
  ['If-None-Match: *', { 'if-none-match': '*' }, true, false],
  ['If-Match: *', { 'if-match': '*' }, false, true],
  ['If-Match: the ETag', { 'if-match': tag }, false, true],
  ['If-Match: another ETag', { 'if-match': '"1.0.0"' }, false, false],
  ['If-None-Match: the ETag', { 'if-none-match': tag }, true, false],
  ['If-Match: two ETags', { 'if-match': `"1.0.0", ${tag}` }, false, true],
  ['If-Match and If-None-Match', { 'if-match': '*', 'if-none-match': '"1.0.0"' }, false, true],
])('a write with %s is applied only if that holds', (...[, headers, whenAbsent, whenPresent]) => {
  const mayWrite = writeCondition(headers);
  expect(mayWrite?.(null)).toBe(whenAbsent);
  expect(mayWrite?.({ value: Buffer.from('v'), ...stamp })).toBe(whenPresent);
  // A record stored again under a higher stamp stays the same record.
  const again = { value: Buffer.from('v'), ms: stamp.ms + 9, tie: 1, origin: stamp };
  expect(mayWrite?.(again)).toBe(whenPresent);
});

test('a write needs no condition, and a condition on a time is refused', () => {
  expect(writeCondition({ 'content-length': '1' })).toBeNull();
  const refusal = expect.objectContaining({ code: 'CONDITION_UNSUPPORTED', http: 501 });
  expect(() => writeCondition({ 'if-unmodified-since': 'today' })).toThrow(refusal);
});
