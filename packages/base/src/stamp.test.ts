import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  compareStamps,
  formatStamp,
  makeStamp,
  parseStamp,
  stampCounter,
  stampMsMax,
  stampTieMax,
} from './stamp.ts';

const DEVICE_MAX = 2 ** 24 - 1;
const parts = fc.tuple(
  fc.oneof(fc.integer({ min: 0, max: stampMsMax }), fc.constantFrom(0, 1, stampMsMax)),
  fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.constantFrom(0, 0xffff)),
  fc.oneof(fc.integer({ min: 0, max: DEVICE_MAX }), fc.constantFrom(0, DEVICE_MAX)),
);

test('a stamp survives a round trip', () => {
  fc.assert(
    fc.property(parts, ([ms, counter, device]) => {
      const stamp = makeStamp(ms, counter, device);
      expect(formatStamp(stamp)).toBe(`${ms}.${counter}.${device}`);
      expect(parseStamp(formatStamp(stamp))).toEqual(stamp);
      expect(stampCounter(stamp)).toBe(counter);
      expect(stamp.tie).toBeLessThanOrEqual(stampTieMax);
    }),
  );
});

test('stamps are ordered by milliseconds, then counter, then device', () => {
  const byParts = (a: readonly number[], b: readonly number[]): number => {
    const index = a.findIndex((value, at) => value !== b[at]);
    return index === -1 ? 0 : Math.sign((a[index] ?? 0) - (b[index] ?? 0));
  };
  fc.assert(
    fc.property(parts, parts, (a, b) => {
      const order = compareStamps(makeStamp(...a), makeStamp(...b));
      expect(Math.sign(order)).toBe(byParts(a, b));
    }),
  );
});

test('an invalid text gives null', () => {
  const bad = [
    '',
    '1',
    '1.2',
    '1.2.3.4',
    '-1.0.0',
    '1.65536.0',
    '1.0.16777216',
    ' 1.0.0',
    '1.0.0\n',
  ];
  bad.push(`${2 ** 48}.0.0`, '1e3.0.0', '1.0x1.0', 'a.b.c');
  for (const text of bad) expect(parseStamp(text), JSON.stringify(text)).toBeNull();
});
