// Clusters so small that all tables can be enumerated, with pins on them. For tests.
import type { Random } from '@ringwright/base/random';
import { applyChanges } from '@ringwright/builder/state/apply-changes';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import type { Change } from '@ringwright/builder/state/change';
import { createState } from '@ringwright/builder/state/create-state';
import { settingsOf } from './small-cluster.ts';

/** Creates a cluster of devices of weight 1, each on a server of its own. */
export function equalDevices(shape: {
  readonly partitions: number;
  readonly replicas: number;
  readonly zones: readonly number[];
}): BuilderState {
  const zones = shape.zones.flatMap((count, zone) => Array.from({ length: count }, () => zone));
  return clusterOf(
    shape,
    zones.map((zone, id) => added(id, { zone, server: id }, 1)),
  );
}

function clusterOf(
  { partitions, replicas }: { readonly partitions: number; readonly replicas: number },
  changes: readonly Change[],
): BuilderState {
  const partitioner = { kind: 'murmur3-mod', partitions, seed: 0 } as const;
  const settings = { replicas, minPartHours: 0, overload: 0 };
  return applyChanges(
    createState({ ring: 'pins', cluster: 'test', partitioner, ...settings }),
    changes,
  );
}

export function added(
  id: number,
  { region = 0, zone, server }: { region?: number; zone: number; server: number },
  weight: number,
): Change {
  const ip = `10.${region}.${zone}.${server}`;
  const place = { region, zone, ip, port: 6200, device: `d${id}` };
  return { kind: 'add', device: { id, ...place, weight, meta: '' } };
}

/** Creates a cluster of three to seven devices and two to six partitions. */
export function tinyCluster(random: Random): BuilderState {
  const replicas = [1, 2, 3, 2.5, 1.5][random.below(5)]!;
  const count = Math.max(3 + random.below(5), Math.ceil(replicas) + 1);
  const [regions, zones] = [1 + random.below(2), 1 + random.below(3)];
  const equal = random.below(2) === 0;
  const devices = Array.from({ length: count }, (_, id) => {
    const spot = {
      region: random.below(regions),
      zone: random.below(zones),
      server: random.below(2),
    };
    return added(id, spot, equal ? 1 : 1 + random.below(5));
  });
  return clusterOf({ partitions: 2 + random.below(5), replicas }, devices);
}

/** Adds one to three pins, and sometimes changes a weight or the number of replicas. */
export function pinnedAndChanged(before: BuilderState, random: Random): BuilderState {
  let state = before;
  for (let pins = 1 + random.below(3); pins > 0; pins -= 1) {
    state = applyChanges(state, [randomPin(state, random)]);
  }
  const id = random.below(state.devices.length);
  if (random.below(3) === 0) {
    state = applyChanges(state, [{ kind: 'set-weight', id, weight: random.below(5) }]);
  }
  const replicas = [1, 1.5, 2, 2.5][random.below(4)]!;
  if (random.below(6) === 0) {
    state = applyChanges(state, [{ kind: 'set', settings: { replicas } }]);
  }
  return state;
}

function randomPin(state: BuilderState, random: Random): Change {
  const ids = [...state.devices.keys()];
  const some = (count: number): number[] =>
    Array.from({ length: count }, () => ids.splice(random.below(ids.length), 1)[0]!);
  const partition = random.below(settingsOf(state).partitions);
  const on = some(random.below(Math.floor(state.replicas) + 1));
  const off = some(Math.min(random.below(3), ids.length));
  return { kind: 'pin', pin: { partition, on, off } };
}
