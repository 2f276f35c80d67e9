// Placement schemes through random joins and leaves: legal preference lists, and fair Q/S tokens.
import { seededRandom } from '@ringwright/base/random';
import { expect, test } from 'vitest';
import { schemesOf } from './compare-schemes.ts';
import { quotaTokens } from './table-schemes.ts';

/** Returns the nodes after each of ten random joins and leaves: numbered in order, at least five. */
function memberships(seed: number): number[][] {
  const random = seededRandom(seed);
  let nodes = [0, 1, 2, 3, 4];
  const steps = [nodes];
  let next = 5;
  for (let step = 0; step < 10; step += 1) {
    const leaves = nodes.length > 5 && random.below(2) === 0;
    nodes = leaves ? nodes.toSpliced(random.below(nodes.length), 1) : [...nodes, next];
    if (!leaves) next += 1;
    steps.push(nodes);
  }
  return steps;
}

test.each([1, 2, 3])('seed %i: every list names three different present nodes', (seed) => {
  const steps = memberships(seed);
  for (const { name, layouts } of schemesOf({ replicas: 3, partitions: 60, tokens: 8, seed })) {
    for (const [at, { lists, arcOf }] of layouts(steps).entries()) {
      for (const list of lists) {
        expect(list, name).toHaveLength(3);
        expect(new Set(list).size).toBe(3);
        expect(list.every((node) => steps[at]?.includes(node))).toBe(true);
      }
      expect(lists[arcOf(2 ** 32 - 1)]).toBeDefined();
    }
  }
});

test.each([1, 2, 3])(
  'seed %i: every node has Q/S tokens, and a change moves at most a fifth of them',
  (seed) => {
    const steps = memberships(seed);
    const partitions = 100;
    const layouts = quotaTokens({ replicas: 1, partitions, tokens: 1, seed }).layouts(steps);
    let before: readonly number[] = [];
    for (const [at, { lists }] of layouts.entries()) {
      const nodes = steps[at] ?? [];
      const owners = lists.flat();
      const counts = nodes.map((node) => owners.filter((owner) => owner === node).length);
      expect(Math.max(...counts)).toBeLessThanOrEqual(Math.ceil(partitions / nodes.length));
      expect(Math.min(...counts)).toBeGreaterThanOrEqual(Math.floor(partitions / nodes.length));
      const moved = owners.filter((owner, token) => at > 0 && owner !== before[token]).length;
      expect(moved).toBeLessThanOrEqual(Math.ceil(partitions / Math.min(nodes.length, 5)));
      before = owners;
    }
  },
);
