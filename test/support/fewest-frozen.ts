// Finds the least imbalance, then the fewest moves, with frozen partitions, by a single flow. For
// tests.
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import type { Table } from '@ringwright/ring/ring';
import { holdersIn, type Tier, tiersOf } from './cluster-definition.ts';
import { partitionArcs, tierEdges } from './fewest-moves.ts';
import { type FlowArc, minCostFlow } from './min-cost-flow.ts';

/** One slot above quota costs more than all moves of a small instance. */
const SURPLUS = 1_000;

interface FrozenCase {
  readonly table: Table;
  readonly state: BuilderState;
  /** Bounds of a partition, those of the whole ring. */
  readonly tiers: ReadonlyMap<string, Tier>;
  /** Floors and ceilings of loads, those of the interim targets. */
  readonly interim: ReadonlyMap<string, Tier>;
  readonly frozen: Uint8Array;
}

/**
 * Minimizes SURPLUS * slots above quota + moves. Returns both counts, or null if no table is legal.
 */
export function fewestFrozen(problem: FrozenCase): { surplus: number; moves: number } | null {
  const { table, state, frozen } = problem;
  const arcs: FlowArc[] = [];
  const holders = new Set(holdersIn(state).map(({ id }) => id));
  let slots = 0;
  for (let partition = 0; partition < table[0]!.length; partition += 1) {
    const held = table.flatMap((row) => (partition < row.length ? [row[partition]!] : []));
    if (frozen[partition] === 1) {
      for (const id of held) {
        if (!holders.has(id)) continue;
        slots += 1;
        arcs.push({ from: 'source', to: `load device ${id}`, low: 1, high: 1, cost: 0 });
      }
      continue;
    }
    slots += held.length;
    arcs.push(...partitionArcs(problem, { partition, held, replicas: held.length }));
  }
  arcs.push(...loadArcs(problem));
  const cost = minCostFlow(arcs, slots);
  return cost === null ? null : { surplus: Math.floor(cost / SURPLUS), moves: cost % SURPLUS };
}

/** A load goes to its own quota, or for a price through the pool to that of another device. */
function loadArcs({ state, interim }: FrozenCase): FlowArc[] {
  const high = 1e6;
  const devices = holdersIn(state).flatMap(({ id }): FlowArc[] => [
    { from: `load device ${id}`, to: `quota device ${id}`, low: 0, high, cost: 0 },
    { from: `load device ${id}`, to: 'pool', low: 0, high, cost: SURPLUS },
    { from: 'pool', to: `quota device ${id}`, low: 0, high, cost: 0 },
  ]);
  return [...devices, ...quotaArcs(state, interim)];
}

/** Arcs from the quotas of devices through those of their tiers to the sink. */
export function quotaArcs(state: BuilderState, interim: FrozenCase['interim']): FlowArc[] {
  return tierEdges(state).map(({ name, parent }) => {
    const { floor, ceil } = interim.get(name)!;
    const to = parent === 'root' ? 'sink' : `quota ${parent}`;
    return { from: `quota ${name}`, to, low: floor, high: ceil, cost: 0 };
  });
}

/**
 * Frozen loads above a device's share stay. All other devices get one and the same part of theirs.
 */
export function interimTiers(problem: Omit<FrozenCase, 'interim'>): Map<string, Tier> {
  const { table, state, tiers, frozen } = problem;
  const devices = holdersIn(state);
  const fixed = new Map(devices.map(({ id }) => [id, 0]));
  let slots = 0;
  for (const row of table) {
    for (let partition = 0; partition < row.length; partition += 1) {
      const id = row[partition]!;
      if (frozen[partition] !== 1) slots += 1;
      else if (fixed.has(id)) fixed.set(id, fixed.get(id)! + 1);
      if (frozen[partition] === 1 && fixed.has(id)) slots += 1;
    }
  }
  const share = (id: number): number => tiers.get(`device ${id}`)!.target;
  const sumWith = (factor: number): number =>
    devices.reduce((sum, { id }) => sum + Math.max(fixed.get(id)!, factor * share(id)), 0);
  let [low, high] = [0, 1];
  for (let step = 0; step < 200; step += 1) {
    const middle = (low + high) / 2;
    if (sumWith(middle) > slots) high = middle;
    else low = middle;
  }
  const sums = new Map<string, number>();
  for (const device of devices) {
    const target = Math.max(fixed.get(device.id)!, low * share(device.id));
    for (const name of tiersOf(device)) sums.set(name, (sums.get(name) ?? 0) + target);
  }
  return new Map(
    [...sums].map(([name, sum]) => {
      const whole = Math.round(sum);
      const target = Math.abs(sum - whole) < 1e-6 ? whole : sum;
      const { low: least, high: most } = tiers.get(name)!;
      const bounds = { floor: Math.floor(target), ceil: Math.ceil(target) };
      return [name, { name, target, ...bounds, low: least, high: most }];
    }),
  );
}
