// Tests `commit --if`: figures at, above and below their limits, unknown figures, and bad limits.
import { expect, test } from 'vitest';
import { parseLimits, requireLimits } from './commit-limits.ts';

type Given = Parameters<typeof requireLimits>;

const move = { partition: 5, replica: 0, from: 1, to: 2 };
const plan = { ring: 'cities', moves: [move, move], later: [[move]], digest: 'd' };
const given = { plan, head: {}, direct: false } as unknown as Given[0];
const risk = { tier: 'zone' as const, domains: 3, before: 0, while: 2, after: 0 };
const ends = { before: 3, after: 2, slots: 8, single: 0, fragile: 4 };
const effects = { traffic: { bytes: 2_048 }, risk: [risk], ends: null } as unknown as Given[1];

function overOf(limits: string, from: Partial<Given[1]> = {}, plan: Partial<Given[0]> = {}) {
  try {
    requireLimits({ ...given, ...plan }, { ...effects, ...from }, parseLimits(limits));
    return [];
  } catch (error) {
    const { code, details } = error as { code: string; details: { over: { name: string }[] } };
    expect(code).toBe('PLAN_OVER_LIMIT');
    return details.over.map(({ name }) => name);
  }
}

test('moves of all waves, bytes and partitions at risk are named if over their limits', () => {
  expect(overOf('moves<=3,bytes<=2KiB,risk<=2')).toEqual([]);
  expect(overOf('bytes<=2.5kB')).toEqual([]);
  expect(overOf('moves=3, bytes=2048')).toEqual([]);
  expect(overOf('moves<=2,bytes<=2047,risk=0')).toEqual(['moves', 'bytes', 'risk']);
  expect(overOf('moves=4')).toEqual(['moves']);
  expect(overOf('risk=0', { risk: [{ ...risk, domains: 1 }] })).toEqual([]);
  expect(overOf('risk<=3', { ends })).toEqual(['risk']);
});

test('unknown bytes exceed every limit, unless nothing is copied', () => {
  expect(overOf('bytes<=1TB', { traffic: null })).toEqual(['bytes']);
  expect(overOf('bytes=0', { traffic: null }, { direct: true })).toEqual([]);
  expect(overOf('bytes=0', { traffic: null }, { head: null })).toEqual([]);
});

test.each(['', 'moves', 'moves<3', 'moves<=', 'moves<=1e3', 'moves<=-1', 'weight<=1', 'bytes<=x'])(
  '%j is refused',
  (limits) => {
    expect(() => parseLimits(limits)).toThrow(expect.objectContaining({ code: 'USAGE' }));
  },
);
