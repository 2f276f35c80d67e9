// Conditional requests: tags, lists of tags, and writes that are refused.
import { makeStamp } from '@ringwright/base/stamp';
import { expect, test } from 'vitest';
import { checkRead, etagOf, refuseConditionalWrite } from './http-conditions.ts';

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
  ['1700000000000.3.9', 'whole'],
  ['', 'whole'],
])('If-None-Match: %s', (header, wanted) => {
  expect(checkRead({ 'if-none-match': header }, stamp)).toBe(wanted);
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

test.each(['if-match', 'if-none-match', 'if-unmodified-since'])('a write with %s', (name) => {
  const refusal = expect.objectContaining({ code: 'CONDITION_UNSUPPORTED', http: 501 });
  expect(() => refuseConditionalWrite({ [name]: '*' })).toThrow(refusal);
  expect(() => refuseConditionalWrite({ 'content-length': '1' })).not.toThrow();
});
