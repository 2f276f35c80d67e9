// The fewest moves to any table with the guarantee, by one flow over everything. For tests.
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import type { Table } from '@ringwright/ring/ring';
import { holdersIn, type Tier, tiersOf } from './cluster-definition.ts';
import { type FlowArc, minCostFlow } from './min-cost-flow.ts';

/** Fewest slots that must change device, over all legal roundings and assignments; null when none is legal. */
export function fewestMoves(
  table: Table,
  state: BuilderState,
  tiers: ReadonlyMap<string, Tier>,
): number | null {
  const arcs: FlowArc[] = [];
  const partitions = table[0]?.length ?? 0;
  const devices = holdersIn(state);
  let slots = 0;
  for (let partition = 0; partition < partitions; partition += 1) {
    const held = table.flatMap((row) => (partition < row.length ? [row[partition]!] : []));
    const replicas = replicasWanted(state, partitions, partition);
    slots += replicas;
    const root = `${partition} root`;
    arcs.push({ from: 'source', to: root, low: replicas, high: replicas, cost: 0 });
    const seen = new Set<string>();
    for (const device of devices) {
      const names = tiersOf(device);
      names.forEach((name, level) => {
        if (level === 0 || seen.has(name)) return;
        seen.add(name);
        const { low, high } = tiers.get(name)!;
        const from = `${partition} ${names[level - 1]}`;
        arcs.push({ from, to: `${partition} ${name}`, low, high, cost: 0 });
      });
      const from = `${partition} device ${device.id}`;
      const cost = held.includes(device.id) ? 0 : 1;
      arcs.push({ from, to: `load device ${device.id}`, low: 0, high: 1, cost });
    }
  }
  const seen = new Set<string>();
  for (const device of devices) {
    const names = tiersOf(device);
    names.forEach((name, level) => {
      if (level === 0 || seen.has(name)) return;
      seen.add(name);
      const { floor, ceil } = tiers.get(name)!;
      const to = level === 1 ? 'sink' : `load ${names[level - 1]}`;
      arcs.push({ from: `load ${name}`, to, low: floor, high: ceil, cost: 0 });
    });
  }
  return minCostFlow(arcs, slots);
}

/** The first partitions have the replica more that a fraction gives. */
export function replicasWanted(state: BuilderState, partitions: number, partition: number): number {
  const slots = Math.round(partitions * state.replicas);
  return Math.ceil((slots - partition) / partitions);
}
