// Tests that values made up by a caller add no lines to the audit log.
import { expect, test } from 'vitest';
import { type Refusal, repetitionKey } from './refusal.ts';

const refused: Refusal = { from: '10.0.0.1:4000', token: 'app', code: 'TOKEN_REFUSED', needs: '' };

function keysOf(refusals: readonly Partial<Refusal>[]): number {
  return new Set(refusals.map((one) => repetitionKey({ ...refused, ...one }))).size;
}

test('an unknown caller has one key per address and code', () => {
  const made = [
    {},
    { token: 'a' },
    { token: 'b' },
    { needs: 'read all of a' },
    { from: '10.0.0.1:9' },
  ];
  expect(keysOf(made)).toBe(1);
  expect(keysOf([...made, { from: '10.0.0.2:1' }, { code: 'TOKEN_MISSING', token: null }])).toBe(3);
});

test('a known caller has one key per permission, whatever the keyspace', () => {
  const known = { code: 'PERMISSION_MISSING' } as const;
  const needs = ['read all of a', 'read this key of b', 'read or write c'];
  expect(keysOf(needs.map((one) => ({ ...known, needs: one })))).toBe(1);
  const others = ['write this key of a', 'operator or peer'].map((one) => ({
    ...known,
    needs: one,
  }));
  expect(keysOf([{ ...known, needs: needs[0]! }, ...others, { ...others[0], token: 'b' }])).toBe(4);
});
