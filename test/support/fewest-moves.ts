// Finds the fewest moves to any table with the guarantee, by a single flow. For tests.
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import type { Table } from '@ringwright/ring/ring';
import { holdersIn, type Tier, tiersOf } from './cluster-definition.ts';
import { type FlowArc, minCostFlow } from './min-cost-flow.ts';

/**
 * Returns the fewest slots that must change their device, over all legal roundings and assignments;
 * null if none is legal.
 */
export function fewestMoves(
  table: Table,
  state: BuilderState,
  tiers: ReadonlyMap<string, Tier>,
): number | null {
  const arcs: FlowArc[] = [];
  const partitions = table[0]?.length ?? 0;
  let slots = 0;
  for (let partition = 0; partition < partitions; partition += 1) {
    const held = table.flatMap((row) => (partition < row.length ? [row[partition]!] : []));
    const replicas = replicasWanted(state, partitions, partition);
    slots += replicas;
    arcs.push(...partitionArcs({ state, tiers }, { partition, held, replicas }));
  }
  for (const { name, parent } of tierEdges(state)) {
    const { floor, ceil } = tiers.get(name)!;
    const to = parent === 'root' ? 'sink' : `load ${parent}`;
    arcs.push({ from: `load ${name}`, to, low: floor, high: ceil, cost: 0 });
  }
  return minCostFlow(arcs, slots);
}

/** Arcs from the source through a partition's bounds to the loads of devices. A move costs 1. */
export function partitionArcs(
  { state, tiers }: { readonly state: BuilderState; readonly tiers: ReadonlyMap<string, Tier> },
  want: { readonly partition: number; readonly held: readonly number[]; readonly replicas: number },
): FlowArc[] {
  const { partition, held, replicas } = want;
  return [
    { from: 'source', to: `${partition} root`, low: replicas, high: replicas, cost: 0 },
    ...tierEdges(state).map(({ name, parent }): FlowArc => {
      const { low, high } = tiers.get(name)!;
      return { from: `${partition} ${parent}`, to: `${partition} ${name}`, low, high, cost: 0 };
    }),
    ...holdersIn(state).map(({ id }): FlowArc => {
      const cost = held.includes(id) ? 0 : 1;
      return { from: `${partition} device ${id}`, to: `load device ${id}`, low: 0, high: 1, cost };
    }),
  ];
}

/** Returns every tier below the root once, with its parent. */
export function tierEdges(state: BuilderState): { name: string; parent: string }[] {
  const parents = new Map<string, string>();
  for (const device of holdersIn(state)) {
    const names = tiersOf(device);
    for (let level = 1; level < names.length; level += 1) {
      parents.set(names[level]!, names[level - 1]!);
    }
  }
  return [...parents].map(([name, parent]) => ({ name, parent }));
}

/** The first partitions have the additional replica of a fractional replica count. */
export function replicasWanted(state: BuilderState, partitions: number, partition: number): number {
  const slots = Math.round(partitions * state.replicas);
  return Math.ceil((slots - partition) / partitions);
}
