// Tests places as operators write them, and the distance from a place to a device.
import { expect, test } from 'vitest';
import { distance, parseFailureDomain } from './failure-domain.ts';

test('a zone is nearer than its region, and a region than the rest', () => {
  const from = parseFailureDomain('r1z2');
  const distances = [
    [1, 2],
    [1, 3],
    [2, 2],
  ].map(([region, zone]) => distance(from, { region: region!, zone: zone! }));
  expect(distances).toEqual([0, 1, 2]);
  expect(distance(parseFailureDomain('r1'), { region: 1, zone: 3 })).toBe(0);
});

test.each(['', 'z2', 'r1z', 'r-1', 'r1z2 ', 'r1234567890'])('%j is not a place', (written) => {
  expect(() => parseFailureDomain(written)).toThrow(expect.objectContaining({ code: 'USAGE' }));
});
