// Finds the most even bytes of all legal tables within a number of moves, by trying each table. For
// tests.
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import type { Table } from '@ringwright/ring/ring';
import { holdersIn, type Tier, tiersOf } from './cluster-definition.ts';
import { replicasWanted } from './fewest-moves.ts';

export interface Sized {
  readonly state: BuilderState;
  readonly tiers: ReadonlyMap<string, Tier>;
  /** By partition. */
  readonly bytes: ArrayLike<number>;
}

/** Returns the sum of bytes * bytes / share over the devices, as defined. */
export function unevenness(table: Table, { tiers, bytes }: Omit<Sized, 'state'>): number {
  const sums = new Map<number, number>();
  for (const row of table) {
    row.forEach((device, partition) => {
      sums.set(device, (sums.get(device) ?? 0) + bytes[partition]!);
    });
  }
  return unevennessOf(sums, tiers);
}

function unevennessOf(sums: ReadonlyMap<number, number>, tiers: ReadonlyMap<string, Tier>): number {
  let total = 0;
  for (const [device, sum] of sums) total += sum ** 2 / tiers.get(`device ${device}`)!.target;
  return total;
}

/** Returns null if no table is legal within the moves. */
export function evenestBytes(before: Table, sized: Sized, movesMax: number): number | null {
  const { state, tiers, bytes } = sized;
  const partitions = bytes.length;
  const domains = new Map(holdersIn(state).map((device) => [device.id, tiersOf(device)]));
  const loads = new Map<string, number>();
  const sums = new Map<number, number>();
  let best = Infinity;
  const count = (set: readonly number[], partition: number, by: 1 | -1): void => {
    for (const id of set) {
      sums.set(id, (sums.get(id) ?? 0) + by * bytes[partition]!);
      for (const name of domains.get(id)!) loads.set(name, (loads.get(name) ?? 0) + by);
    }
  };
  const choose = (partition: number, movesLeft: number): void => {
    if (partition === partitions) {
      const full = [...tiers.values()].every(({ name, floor }) => (loads.get(name) ?? 0) >= floor);
      if (full) best = Math.min(best, unevennessOf(sums, tiers));
      return;
    }
    const held = before.map((row) => row[partition]);
    for (const set of setsOf([...domains.keys()], replicasWanted(state, partitions, partition))) {
      const left = movesLeft - set.filter((id) => !held.includes(id)).length;
      if (left < 0 || !isLegal(set, tiers, domains)) continue;
      count(set, partition, 1);
      const fits = set.every((id) =>
        domains.get(id)!.every((name) => loads.get(name)! <= tiers.get(name)!.ceil),
      );
      // Sums only grow, so a branch that is not better already cannot become better.
      if (fits && unevennessOf(sums, tiers) < best) choose(partition + 1, left);
      count(set, partition, -1);
    }
  };
  choose(0, movesMax);
  return best === Infinity ? null : best;
}

function setsOf(ids: readonly number[], size: number): number[][] {
  if (size === 0) return [[]];
  return ids.flatMap((id, at) => setsOf(ids.slice(at + 1), size - 1).map((set) => [id, ...set]));
}

function isLegal(
  set: readonly number[],
  tiers: ReadonlyMap<string, Tier>,
  domains: ReadonlyMap<number, readonly string[]>,
): boolean {
  const held = new Map<string, number>();
  for (const id of set) {
    for (const name of domains.get(id)!) held.set(name, (held.get(name) ?? 0) + 1);
  }
  return [...tiers.values()].every(({ name, low, high }) => {
    const here = held.get(name) ?? 0;
    return name === 'root' || (here >= low && here <= high);
  });
}
