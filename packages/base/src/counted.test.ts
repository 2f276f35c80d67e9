import { expect, test } from 'vitest';
import { counted } from './counted.ts';

test('one is singular, none and several are plural', () => {
  expect([0, 1, 2].map((count) => counted(count, 'move'))).toEqual([
    '0 moves',
    '1 move',
    '2 moves',
  ]);
  expect(counted(1, 'slot moves', 'slots move')).toBe('1 slot moves');
  expect(counted(2, 'slot moves', 'slots move')).toBe('2 slots move');
});
