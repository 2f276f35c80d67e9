import { expect, test } from 'vitest';
import { machineLimits } from './machine-limits.ts';

test('the limits read from this machine are plausible', () => {
  const { memoryBytes, descriptors } = machineLimits();
  expect(memoryBytes).toBeGreaterThan(2 ** 26);
  expect(descriptors).toBeGreaterThan(100);
});
