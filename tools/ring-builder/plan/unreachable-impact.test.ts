// Tests how partitions are counted by the replicas that are left when devices are away.
import { expect, test } from 'vitest';
import { servedRing } from '../../../test/support/served-ring.ts';
import { awayLine, unreachableImpact } from './unreachable-impact.ts';

/** Slots of partition p: devices p, p + 1 and p + 2 modulo 4. */
const ring = servedRing({ devices: 4, power: 2 });

test('partitions are counted by how many devices are left', () => {
  const nothing = { partitions: 0, underQuorum: 0, single: 0, none: 0 };
  expect(unreachableImpact(ring, new Set())).toEqual(nothing);
  expect(unreachableImpact(ring, new Set([1]))).toEqual({ ...nothing, partitions: 3 });
  const two = { partitions: 4, underQuorum: 2, single: 2, none: 0 };
  expect(unreachableImpact(ring, new Set([1, 2]))).toEqual(two);
  const three = { partitions: 4, underQuorum: 4, single: 3, none: 1 };
  expect(unreachableImpact(ring, new Set([1, 2, 3]))).toEqual(three);
});

test('the line names the devices that are away and the effect on partitions', () => {
  const line = awayLine(ring, [{ address: '10.0.0.2:6200', devices: [1, 2] }]);
  expect(line).toContain('without d1 d2 (10.0.0.2:6200): 4 of 4 partitions');
  expect(line).toContain('without it, 2 have no quorum, 2 one other device, 0 no other device');
});
