// Every format that this program writes has a wire version from which on it can be read.
import { ringFormats } from '@ringwright/ring/file/ring-container';
import { expect, test } from 'vitest';
import { readsRingFormat } from './ring-formats.ts';
import { oldestWireVersion, wireVersion } from './wire-version.ts';

test('this release reads all formats, and the oldest release only the first', () => {
  expect(ringFormats.filter((format) => !readsRingFormat(wireVersion, format))).toEqual([]);
  expect(ringFormats.filter((format) => readsRingFormat(oldestWireVersion, format))).toEqual([1]);
  expect(readsRingFormat(wireVersion, Math.max(...ringFormats) + 1)).toBe(false);
});
