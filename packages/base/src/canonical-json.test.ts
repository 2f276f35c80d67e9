import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson, type Json } from './canonical-json.ts';

const json = fc.jsonValue({ noUnicodeString: false }) as fc.Arbitrary<Json>;

/** Returns the same value with the members of every object inserted in reverse. */
function reversed(value: Json): Json {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(reversed);
  const members = Object.entries(value as Record<string, Json>).reverse();
  return Object.fromEntries(members.map(([key, member]) => [key, reversed(member)]));
}

test('the text is read back as the same value', () => {
  fc.assert(
    fc.property(json, (value) => {
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test('the order of insertion does not matter', () => {
  fc.assert(
    fc.property(json, (value) => {
      expect(canonicalJson(reversed(value))).toBe(canonicalJson(value));
    }),
  );
});

test('keys are sorted by code unit, undefined members are left out, nothing is padded', () => {
  const value = { b: [1, { d: null, c: undefined }], a: 'x', A: true, é: 0.5 };
  expect(canonicalJson(value)).toBe('{"A":true,"a":"x","b":[1,{"d":null}],"é":0.5}');
});
