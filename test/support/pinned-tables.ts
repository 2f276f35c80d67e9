// Enumerates every table that satisfies its pins, by its loads and the moves to it. For tests.
// Written from the definitions: sets of devices are enumerated, without a clever search.
import type { BuilderDevice, BuilderState, Pin } from '@ringwright/builder/state/builder-state';
import type { Table } from '@ringwright/ring/ring';
import { holdersIn, type Tier, tiersOf } from './cluster-definition.ts';
import { replicasWanted } from './fewest-moves.ts';

/** Maps the loads of the devices that may hold slots, in their order, to the fewest moves. */
type MovesByLoads = ReadonlyMap<string, number>;

/** Violations of bounds by tier, regions first. Smaller is better dispersed. */
type Breaches = readonly number[];

interface Asked {
  readonly state: BuilderState;
  readonly tiers: ReadonlyMap<string, Tier>;
}

/** Returns all sets of devices of one partition that satisfy its pin and violate bounds least. */
export function bestSets(
  { state, tiers }: Asked,
  replicas: number,
  pin: Pin | undefined,
): number[][] {
  const devices = holdersIn(state);
  const on = (pin?.on ?? []).filter((id) => devices.some((device) => device.id === id));
  let best: number[][] = [];
  let fewest: Breaches | null = null;
  for (const set of subsets(devices, replicas)) {
    const ids = set.map(({ id }) => id);
    if (!on.every((id) => ids.includes(id))) continue;
    if (pin?.off.some((id) => ids.includes(id)) === true) continue;
    const breaches = breachesOf(set, tiers);
    const order: number = fewest === null ? -1 : compared(breaches, fewest);
    if (order < 0) best = [];
    if (order <= 0) best.push(ids);
    if (order < 0) fewest = breaches;
  }
  return best;
}

/** A node with e replicas too many or too few counts e (e + 1) / 2 in its tier. */
function breachesOf(set: readonly BuilderDevice[], tiers: ReadonlyMap<string, Tier>): Breaches {
  const counts = new Map<string, number>();
  for (const device of set) {
    for (const name of tiersOf(device)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const breaches = [0, 0, 0, 0];
  for (const { name, low, high } of tiers.values()) {
    const level = levelOf(name);
    if (level === 0) continue;
    const count = counts.get(name) ?? 0;
    const breach = Math.max(0, low - count, count - high);
    breaches[level - 1]! += (breach * (breach + 1)) / 2;
  }
  return breaches;
}

function compared(a: Breaches, b: Breaches): number {
  const i = a.findIndex((value, index) => value !== b[index]);
  return i < 0 ? 0 : a[i]! - b[i]!;
}

/** Goes partition by partition through all reachable loads, with the fewest moves to each. */
export function movesByLoads(table: Table, problem: Asked): MovesByLoads {
  const { state } = problem;
  const order = holdersIn(state).map(({ id }) => id);
  const partitions = table[0]!.length;
  let reached = new Map([[order.map(() => 0).join(), 0]]);
  for (let partition = 0; partition < partitions; partition += 1) {
    const held = table.flatMap((row) => (partition < row.length ? [row[partition]!] : []));
    const pin = state.pins?.find((one) => one.partition === partition);
    const sets = bestSets(problem, replicasWanted(state, partitions, partition), pin);
    const next = new Map<string, number>();
    for (const [loads, moves] of reached) {
      for (const set of sets) {
        const sums = loads
          .split(',')
          .map((load, i) => Number(load) + (set.includes(order[i]!) ? 1 : 0));
        const key = sums.join();
        const sum = moves + set.filter((id) => !held.includes(id)).length;
        if (sum < (next.get(key) ?? Infinity)) next.set(key, sum);
      }
    }
    reached = next;
  }
  return reached;
}

/**
 * Returns the fewest moves to loads that are the floor or ceiling of the target at every node; null
 * if there are none.
 */
export function fewestBalanced(reached: MovesByLoads, problem: Asked): number | null {
  let fewest: number | null = null;
  for (const [key, moves] of reached) {
    if (fewest !== null && moves >= fewest) continue;
    if (missesOf(key.split(',').map(Number), problem).every((miss) => miss === 0)) fewest = moves;
  }
  return fewest;
}

/** Returns how far the loads of a device are from floor and ceiling at worst. */
export function worstMiss(loads: readonly number[], problem: Asked): number {
  const { state, tiers } = problem;
  const names = new Set(holdersIn(state).map(({ id }) => `device ${id}`));
  const devices = new Map([...tiers].filter(([name]) => names.has(name)));
  return Math.max(...missesOf(loads, { state, tiers: devices }));
}

function missesOf(loads: readonly number[], { state, tiers }: Asked): number[] {
  const sums = new Map<string, number>();
  holdersIn(state).forEach((device, i) => {
    for (const name of tiersOf(device)) sums.set(name, (sums.get(name) ?? 0) + loads[i]!);
  });
  return [...tiers.values()].map(({ name, floor, ceil }) => {
    const sum = sums.get(name) ?? 0;
    return Math.max(0, floor - sum, sum - ceil);
  });
}

function levelOf(name: string): number {
  if (name === 'root') return 0;
  if (name.startsWith('device ')) return 4;
  if (name.includes(' server ')) return 3;
  return name.includes(' zone ') ? 2 : 1;
}

function subsets<Item>(items: readonly Item[], size: number): Item[][] {
  if (size === 0) return [[]];
  return items.flatMap((item, i) =>
    subsets(items.slice(i + 1), size - 1).map((rest) => [item, ...rest]),
  );
}
