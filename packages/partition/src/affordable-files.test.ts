// How many files stay open: what is scarce decides, within two limits.
import { openPartitionFilesMax, openPartitionFilesMin } from '@ringwright/base/limits-store';
import { expect, test } from 'vitest';
import { affordableFiles, machineLimits } from './open-store.ts';

const GIB = 2 ** 30;
const many = Number.POSITIVE_INFINITY;

test('memory, descriptors, and the limits decide, in any mixture', () => {
  expect(affordableFiles({ memoryBytes: 24 * GIB, descriptors: many })).toBe(5_242);
  expect(affordableFiles({ memoryBytes: 24 * GIB, descriptors: 5_000 })).toBe(1_000);
  expect(affordableFiles({ memoryBytes: GIB, descriptors: many })).toBe(openPartitionFilesMin);
  expect(affordableFiles({ memoryBytes: 24 * GIB, descriptors: 1_024 })).toBe(128);
  expect(affordableFiles({ memoryBytes: 512 * GIB, descriptors: many })).toBe(
    openPartitionFilesMax,
  );
});

test('this machine has limits that make sense', () => {
  const { memoryBytes, descriptors } = machineLimits();
  expect(memoryBytes).toBeGreaterThan(2 ** 26);
  expect(descriptors).toBeGreaterThan(100);
});
