// Tests the sentence for each kind of fault that documents of this project can have.
import { expect, test } from 'vitest';
import { z } from 'zod';
import { issueSentence } from './issue-sentence.ts';

const operations = z.discriminatedUnion('op', [
  z.strictObject({ op: z.literal('get') }),
  z.strictObject({ op: z.literal('put') }),
]);

test.each<readonly [string, z.ZodType, unknown]>([
  ['expected more than 0', z.number().positive(), 0],
  ['expected 0 or more', z.number().min(0), -1],
  ['expected less than 5', z.number().lt(5), 5],
  ['expected at most 5', z.number().max(5), 6],
  ['is empty', z.string().min(1), ''],
  ['has more than 1 members', z.array(z.string()).max(1), ['a', 'b']],
  ['expected a, b', z.enum(['a', 'b']), 'c'],
  ['expected get, put', operations, { op: 'cas' }],
  ['has "key", which is unknown', operations, { op: 'get', key: 1 }],
  ['has the wrong form', z.union([z.string(), z.null()]), 5],
  ['is wrong', z.string().refine(() => false, 'is wrong'), 'a'],
])('the sentence for a fault is: %s', (sentence, schema, document) => {
  const [issue] = schema.safeParse(document).error?.issues ?? [];
  expect(issue && issueSentence(issue)).toBe(sentence);
});
