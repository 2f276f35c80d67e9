import { expect, test } from 'vitest';
import * as limits from './limits.ts';
import * as access from './limits-access.ts';
import * as commands from './limits-commands.ts';
import * as copies from './limits-copies.ts';
import * as listeners from './limits-listeners.ts';
import * as rings from './limits-rings.ts';
import * as store from './limits-store.ts';
import * as wire from './limits-wire.ts';

const all = [limits, access, commands, copies, listeners, rings, store, wire];

test('every limit is a positive finite number', () => {
  for (const [name, value] of all.flatMap(Object.entries)) {
    expect(Number.isFinite(value) && value > 0, name).toBe(true);
  }
});

test('related limits fit each other', () => {
  expect(limits.partitionCountMax).toBe(2 ** limits.partitionPowerMax);
  // The sum of all weights is rounded once per device; shares are compared at 1e-9.
  expect(limits.deviceCountMax * Number.EPSILON).toBeLessThan(1e-9);
  expect(limits.ringManifestBytesMax + limits.ringDevicesSectionBytesMax).toBeLessThan(
    limits.ringFileBytesMax,
  );
});
