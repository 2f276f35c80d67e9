// Tests that JSON from outside is parsed or refused, whatever its depth.
import { expect, test } from 'vitest';
import { jsonDepthMax } from './limits.ts';
import { jsonOrNull, parseJson } from './parse-json.ts';

const refused = (cause: unknown): Error => new Error('refused', { cause });
const lists = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const objects = (depth: number): string => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth);

test('text that is no JSON is refused, and so are bytes that are not UTF-8', () => {
  expect(parseJson('{"a":[1,null]}', refused)).toEqual({ a: [1, null] });
  for (const text of ['', '[', Buffer.of(0x22, 0xff, 0x22)]) {
    expect(() => parseJson(text, refused)).toThrow('refused');
  }
  expect([jsonOrNull('['), jsonOrNull('[2]')]).toEqual([null, [2]]);
});

test('what is nested too deeply to be checked is refused like text that is no JSON', () => {
  for (const nested of [lists, objects]) {
    const deepest = nested(jsonDepthMax);
    expect(JSON.stringify(parseJson(deepest, refused))).toBe(deepest);
    for (const depth of [jsonDepthMax + 1, 100_000]) {
      expect(() => parseJson(nested(depth), refused)).toThrow('refused');
      expect(jsonOrNull(nested(depth))).toBeNull();
    }
  }
});
