// Every reason to refuse a ring, one at a time, and the two good answers.
import { CodedError } from '@ringwright/base/coded-error';
import { ringVersionJumpMax } from '@ringwright/base/limits';
import type { Ring } from '@ringwright/ring/ring';
import { describe, expect, test } from 'vitest';
import { idOf, moveVersions, servedRing } from '../../../../test/support/served-ring.ts';
import { checkSuccession } from './check-succession.ts';

const identified = (ring: Ring) => ({ ring, id: idOf(ring) });
const first = servedRing();
const [second, third, fourth] = moveVersions(first, [{ partition: 0, replica: 0, from: 0, to: 3 }]);

function verdict(active: Ring, given: Ring): string {
  try {
    return checkSuccession(identified(active), identified(given));
  } catch (error) {
    return error instanceof CodedError ? error.code : `no CodedError: ${String(error)}`;
  }
}

const murmur = (seed: number): Ring => ({
  ...first,
  partitioner: { kind: 'murmur3-mod', partitions: 4, seed },
});
const md5 = (change: object): Ring => ({
  ...second,
  partitioner: { kind: 'md5-shift', power: 2, prefix: '', suffix: '', ...change },
});

describe('accepted', () => {
  test.each([
    ['the same', first, first, 'same'],
    ['the next', first, second, 'next'],
    ['two on, as after a push that was missed', first, third, 'next'],
    ['a far one, just allowed', first, { ...fourth, version: 1 + ringVersionJumpMax }, 'next'],
  ])('%s', (...[, active, given, wanted]) => {
    expect(verdict(active, given)).toBe(wanted);
  });
});

describe('refused', () => {
  const twin = { ...first, devices: first.devices.map((d) => d && { ...d, weight: 7 }) };
  test.each([
    ['of another cluster', first, { ...second, cluster: 'other' }, 'RING_FOREIGN'],
    ['with another partitioner', first, { ...murmur(0), version: 2 }, 'RING_FOREIGN'],
    ['with another seed', murmur(1), { ...murmur(2), version: 2 }, 'RING_FOREIGN'],
    ['with another suffix', first, md5({ suffix: 'ff' }), 'RING_FOREIGN'],
    ['with another prefix', first, md5({ prefix: '00' }), 'RING_FOREIGN'],
    ['with more partitions', first, servedRing({ power: 3 }), 'RING_FOREIGN'],
    ['an older one', third, second, 'RING_OLDER'],
    ['the same version with another id', first, twin, 'RING_FORK'],
    ['the next of another parent', twin, second, 'RING_FORK'],
    ['absurdly far on', first, { ...second, version: 2 + ringVersionJumpMax }, 'RING_VERSION_JUMP'],
  ])('%s', (...[, active, given, code]) => {
    expect(verdict(active, given)).toBe(code);
  });

  test('with both versions and ids for programs', () => {
    const [active, given] = [identified(third), identified(second)];
    expect(() => checkSuccession(active, given)).toThrow(
      expect.objectContaining({
        details: { active: 3, given: 2, activeId: active.id, givenId: given.id },
      }),
    );
  });
});
