import { expect, test } from 'vitest';
import { AssertionError, assert, must, unreachable } from './assert.ts';

test('assert passes on true and throws the message on false', () => {
  expect(() => assert(true, 'never')).not.toThrow();
  expect(() => assert(false, 'two and two')).toThrow(new AssertionError('two and two'));
});

test('must returns falsy values and refuses only null and undefined', () => {
  for (const value of [0, '', false, Number.NaN]) expect(must(value, 'kept')).toBe(value);
  for (const value of [null, undefined]) {
    expect(() => must(value, 'missing')).toThrow(AssertionError);
  }
});

test('unreachable names the value that reached it', () => {
  // The compiler forbids this call, but a value from outside could still arrive.
  const stray = { kind: 'stray' } as never;
  expect(() => unreachable(stray)).toThrow('unreachable: {"kind":"stray"}');
});
