// Tests the hours in which waves may begin, also across midnight.
import { expect, test } from 'vitest';
import { isInside, parseWindow } from './parse-window.ts';

const hours = Array.from({ length: 24 }, (_, hour) => hour);

test.each([
  ['22-6', [22, 23, 0, 1, 2, 3, 4, 5]],
  ['1-3', [1, 2]],
  ['20-24', [20, 21, 22, 23]],
  ['0-24', hours],
])('the window %s contains the hours %j', (text, wanted) => {
  const inside = hours.filter((hour) => isInside(parseWindow(text), hour));
  expect(new Set(inside)).toEqual(new Set(wanted));
});

test.each(['', '22', '24-3', '3-25', '5-5', '1-2-3', 'a-b', '-1-3'])('%j is refused', (text) => {
  expect(() => parseWindow(text)).toThrow(/expected hours/);
});
