import { expect, test } from 'vitest';
import * as limits from './limits.ts';

test('every limit is a positive finite number', () => {
  for (const [name, value] of Object.entries(limits)) {
    expect(Number.isFinite(value) && value > 0, name).toBe(true);
  }
});

test('limits of one thing fit each other', () => {
  expect(limits.partitionCountMax).toBe(2 ** limits.partitionPowerMax);
  expect(limits.deviceCountMax * limits.deviceWeightMax).toBeLessThan(Number.MAX_SAFE_INTEGER);
  expect(limits.ringManifestBytesMax + limits.ringDevicesSectionBytesMax).toBeLessThan(
    limits.ringFileBytesMax,
  );
});
