// Tests how many partition files may stay open: memory or descriptors decide, whichever is scarcer,
// between a minimum and a maximum.
import { openPartitionFilesMax, openPartitionFilesMin } from '@ringwright/base/limits-store';
import { expect, test } from 'vitest';
import { affordableFiles } from './open-store.ts';

const GIB = 2 ** 30;
const many = Number.POSITIVE_INFINITY;

test('the scarcer of memory and descriptors decides, between the minimum and the maximum', () => {
  expect(affordableFiles({ memoryBytes: 24 * GIB, descriptors: many })).toBe(5_242);
  expect(affordableFiles({ memoryBytes: 24 * GIB, descriptors: 5_000 })).toBe(937);
  expect(affordableFiles({ memoryBytes: GIB, descriptors: many })).toBe(openPartitionFilesMin);
  expect(affordableFiles({ memoryBytes: 24 * GIB, descriptors: 1_024 })).toBe(128);
  expect(affordableFiles({ memoryBytes: 512 * GIB, descriptors: many })).toBe(
    openPartitionFilesMax,
  );
});
