// What a caller may pass as the condition of a write.
import { makeStamp } from '@ringwright/base/stamp';
import { expect, test } from 'vitest';
import { conditionOf } from './condition.ts';

test.each([
  ['absent', 'absent'],
  ['present', 'present'],
  ['12.3.4', makeStamp(12, 3, 4)],
  ['"12.3.4"', makeStamp(12, 3, 4)],
  [undefined, null],
])('%s is a condition', (text, condition) => expect(conditionOf(text)).toEqual(condition));

test.each(['', 'bogus', '"12.3.4', '12.3', '""'])('%j is not a condition', (text) => {
  expect(() => conditionOf(text)).toThrow(expect.objectContaining({ code: 'USAGE' }));
});
