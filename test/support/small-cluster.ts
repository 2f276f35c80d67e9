// Small random clusters, changes and starting tables, the same for the same seed. For tests.
import type { Random } from '@ringwright/base/random';
import { nextRing } from '@ringwright/builder/plan/next-ring';
import { planVersion } from '@ringwright/builder/plan/plan-version';
import { applyChanges } from '@ringwright/builder/state/apply-changes';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import type { Change } from '@ringwright/builder/state/change';
import { createState } from '@ringwright/builder/state/create-state';
import { firstRing } from '@ringwright/ring/first-ring';
import { type Ring, rowLengths, type Table } from '@ringwright/ring/ring';

export function settingsOf(state: BuilderState): { partitions: number } {
  return {
    partitions: state.partitioner.kind === 'murmur3-mod' ? state.partitioner.partitions : 0,
  };
}

export function holders(state: BuilderState): number {
  return state.devices.filter((d) => d?.state === 'active' && d.weight > 0).length;
}

export function randomCluster(random: Random): BuilderState {
  const changes: Change[] = [];
  const regions = 1 + random.below(2);
  for (let region = 0; region < regions; region += 1) {
    for (let zone = 0; zone <= random.below(3); zone += 1) {
      for (let server = 0; server <= random.below(3); server += 1) {
        for (let disk = 0; disk <= random.below(3); disk += 1) {
          changes.push(addition(changes.length, { region, zone, server, disk, random }));
        }
      }
    }
  }
  const replicas = [1, 2, 3, 2.5, 3.25][random.below(5)]!;
  while (changes.length < Math.ceil(replicas) + 2) {
    const disk = 10 + changes.length;
    changes.push(addition(changes.length, { region: 0, zone: 0, server: 0, disk, random }));
  }
  const state = createState({
    ring: 'small',
    cluster: 'test',
    partitioner: { kind: 'murmur3-mod', partitions: 2 + random.below(11), seed: 0 },
    replicas,
    minPartHours: 0,
    overload: 0,
  });
  return applyChanges(state, changes);
}

interface Spot {
  readonly region: number;
  readonly zone: number;
  readonly server: number;
  readonly disk: number;
  readonly random: Random;
}

function addition(id: number, { region, zone, server, disk, random }: Spot): Change {
  const ip = `10.${region}.${zone}.${server}`;
  const weight = [1, 1, 2, 1 + random.below(8)][random.below(4)]!;
  return {
    kind: 'add',
    device: { id, region, zone, ip, port: 6200, device: `d${disk}`, weight, meta: '' },
  };
}

export function randomChanges(before: BuilderState, random: Random): BuilderState {
  let state = before;
  for (let left = 1 + random.below(3); left > 0; left -= 1) {
    const id = random.below(state.devices.length);
    const active = state.devices[id]?.state === 'active';
    const kind = random.below(4);
    if (kind === 0 && active) state = applyChanges(state, [{ kind: 'remove', id }]);
    if (kind === 1 && active) {
      state = applyChanges(state, [{ kind: 'set-weight', id, weight: random.below(5) }]);
    }
    if (kind >= 2) {
      const spot = { region: random.below(2), zone: random.below(4), server: 5, disk: 90 + left };
      state = applyChanges(state, [addition(state.devices.length, { ...spot, random })]);
    }
  }
  return random.below(3) === 0 ? otherReplicas(state, random) : state;
}

function otherReplicas(state: BuilderState, random: Random): BuilderState {
  const replicas = [1, 1.5, 2, 2.25, 3, 3.5, 4][random.below(7)]!;
  return applyChanges(state, [{ kind: 'set', settings: { replicas } }]);
}

export function firstOf(state: BuilderState): Ring {
  const from = { head: null, headId: null, state, direct: true };
  return nextRing(planVersion(from), from);
}

/** Returns the builder's own first ring in most cases, otherwise any table at all. */
export function startingRing(state: BuilderState, random: Random): Ring {
  const ring = firstOf(state);
  return random.below(4) > 0 ? ring : firstRing({ ...ring, table: junkTable(state, random) });
}

function junkTable(state: BuilderState, random: Random): Table {
  const { partitions } = settingsOf(state);
  const table = rowLengths(partitions, state.replicas).map((length) => new Uint16Array(length));
  for (let partition = 0; partition < partitions; partition += 1) {
    const ids = Array.from(state.devices.keys());
    for (const row of table) {
      const [id] = ids.splice(random.below(ids.length), 1);
      if (partition < row.length) row[partition] = id!;
    }
  }
  return table;
}
