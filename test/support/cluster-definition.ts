// Shares, bounds and faults of a placement, computed from their definitions. Shares no code with
// the builder.
import type { BuilderDevice, BuilderState } from '@ringwright/builder/state/builder-state';
import type { Table } from '@ringwright/ring/ring';

export interface Tier {
  readonly name: string;
  /** Desired number of slots, a real number. */
  readonly target: number;
  readonly floor: number;
  readonly ceil: number;
  /** Minimum and maximum number of replicas of one partition. */
  readonly low: number;
  readonly high: number;
}

/** Returns the names of the failure domains of a device: root, region, zone, server, device. */
export function tiersOf(device: BuilderDevice): string[] {
  const region = `region ${device.region}`;
  const zone = `${region} zone ${device.zone}`;
  return ['root', region, zone, `${zone} server ${device.ip}`, `device ${device.id}`];
}

export function holdersIn(state: BuilderState): BuilderDevice[] {
  return state.devices
    .filter((device) => device !== null)
    .filter((device) => device.state === 'active' && device.weight > 0);
}

/** Replicas per partition by weight alone, at most one each: capped devices are removed in turn. */
function weightShares(devices: readonly BuilderDevice[], replicas: number): number[] {
  const whole = new Set<number>();
  for (;;) {
    const rest = devices.reduce((sum, d, i) => (whole.has(i) ? sum : sum + d.weight), 0);
    const fair = devices.map((d) => ((replicas - whole.size) * d.weight) / rest);
    const over = devices.flatMap((_, i) => (!whole.has(i) && fair[i]! > 1 + 1e-12 ? [i] : []));
    if (over.length === 0) return fair.map((share, i) => (whole.has(i) ? 1 : share));
    for (const i of over) whole.add(i);
  }
}

/** Returns every tier of the cluster by name, for overload 0. */
export function tiersByName(state: BuilderState, partitions: number): Map<string, Tier> {
  const slots = Math.round(partitions * state.replicas);
  const devices = holdersIn(state);
  const shares = weightShares(devices, slots / partitions);
  const targets = new Map<string, number>();
  devices.forEach((device, i) => {
    for (const name of tiersOf(device)) {
      targets.set(name, (targets.get(name) ?? 0) + shares[i]! * partitions);
    }
  });
  return new Map(
    [...targets].map(([name, sum]) => {
      const whole = Math.round(sum);
      const target = Math.abs(sum - whole) < 1e-6 ? whole : sum;
      const floor = Math.floor(target);
      const ceil = Math.ceil(target);
      const low = Math.floor(target / partitions);
      return [name, { name, target, floor, ceil, low, high: Math.ceil(target / partitions) }];
    }),
  );
}

/** Returns every violation of the guarantee in a table, as a sentence each; empty if it holds. */
export function faultsOf(
  table: Table,
  state: BuilderState,
  tiers: ReadonlyMap<string, Tier>,
): string[] {
  const faults: string[] = [];
  const loads = new Map<string, number>();
  const partitions = table[0]?.length ?? 0;
  for (let partition = 0; partition < partitions; partition += 1) {
    const here = new Map<string, number>();
    for (const row of table) {
      if (partition >= row.length) continue;
      const device = state.devices[row[partition]!];
      if (device === null || device === undefined) {
        faults.push(`partition ${partition} is on a hole`);
        continue;
      }
      for (const name of tiersOf(device)) here.set(name, (here.get(name) ?? 0) + 1);
    }
    for (const [name, count] of here) {
      loads.set(name, (loads.get(name) ?? 0) + count);
      const high = tiers.get(name)?.high ?? 0;
      if (name !== 'root' && count > high) {
        faults.push(`partition ${partition}: ${count} in ${name}, at most ${high}`);
      }
    }
    for (const { name, low } of tiers.values()) {
      const count = here.get(name) ?? 0;
      if (count < low) faults.push(`partition ${partition}: ${count} in ${name}, at least ${low}`);
    }
  }
  for (const { name, target } of tiers.values()) {
    const load = loads.get(name) ?? 0;
    if (Math.abs(load - target) >= 1) faults.push(`${name} holds ${load}, share ${target}`);
  }
  return faults;
}
