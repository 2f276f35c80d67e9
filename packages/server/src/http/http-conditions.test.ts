// Conditional requests: tags, lists of tags, and what a write may replace.
import { makeStamp } from '@ringwright/base/stamp';
import { expect, test } from 'vitest';
import { checkRead, writeCondition } from './http-keys.ts';
import { etagOf } from './key-request.ts';

const stamp = makeStamp(1_700_000_000_000, 3, 9);
const tag = '"1700000000000.3.9"';

test('the tag is the stamp', () => {
  expect(etagOf(stamp)).toBe(tag);
});

test.each([
  [tag, 'same'],
  [`W/${tag}`, 'same'],
  [`"1.0.0" , ${tag}`, 'same'],
  ['*', 'same'],
  ['"1700000000000.3.8"', 'whole'],
])('If-None-Match: %s', (header, wanted) => {
  expect(checkRead({ 'if-none-match': header }, stamp)).toBe(wanted);
});

test.each(['1700000000000.3.9', '', 'garbage', '"a", b', '"a'])('no tag: %j', (header) => {
  const refusal = expect.objectContaining({ code: 'USAGE', http: 400 });
  for (const name of ['if-match', 'if-none-match']) {
    expect(() => writeCondition({ [name]: header }), name).toThrow(refusal);
    expect(() => checkRead({ [name]: header }, stamp), name).toThrow(refusal);
  }
});

test('nothing matches a record that is not there', () => {
  expect(checkRead({ 'if-none-match': '*' }, null)).toBe('whole');
  expect(() => checkRead({ 'if-match': '*' }, null)).toThrow('there is no record');
});

test('If-Match names the record or refuses it', () => {
  expect(checkRead({ 'if-match': tag }, stamp)).toBe('whole');
  expect(checkRead({ 'if-match': '*' }, stamp)).toBe('whole');
  const refusal = expect.objectContaining({ code: 'PRECONDITION_FAILED', http: 412 });
  expect(() => checkRead({ 'if-match': '"1.0.0"' }, stamp)).toThrow(refusal);
});

test.each<[string, Record<string, string>, boolean, boolean]>([
  ['if there is none', { 'if-none-match': '*' }, true, false],
  ['if there is one', { 'if-match': '*' }, false, true],
  ['if it is that one', { 'if-match': tag }, false, true],
  ['if it is another one', { 'if-match': '"1.0.0"' }, false, false],
  ['if it is not that one', { 'if-none-match': tag }, true, false],
  ['if it is one of them', { 'if-match': `"1.0.0", ${tag}` }, false, true],
  ['if both hold', { 'if-match': '*', 'if-none-match': '"1.0.0"' }, false, true],
])('a write %s', (...[, headers, whenAbsent, whenPresent]) => {
  const mayWrite = writeCondition(headers);
  expect(mayWrite?.(null)).toBe(whenAbsent);
  expect(mayWrite?.({ value: Buffer.from('v'), ...stamp })).toBe(whenPresent);
  // Stored again under a higher stamp, it is the same record.
  const again = { value: Buffer.from('v'), ms: stamp.ms + 9, tie: 1, origin: stamp };
  expect(mayWrite?.(again)).toBe(whenPresent);
});

test('a write without condition, and one with a time', () => {
  expect(writeCondition({ 'content-length': '1' })).toBeNull();
  const refusal = expect.objectContaining({ code: 'CONDITION_UNSUPPORTED', http: 501 });
  expect(() => writeCondition({ 'if-unmodified-since': 'today' })).toThrow(refusal);
});
