// What a state gives its ring: version 1, and the devices as servers see them. Pure.
import { firstRing } from '@ringwright/ring/first-ring';
import { partitionCountOf } from '@ringwright/ring/partitioner/partitioner';
import type { Ring, Table } from '@ringwright/ring/ring';
import type { BuilderState } from './builder-state.ts';

/** Version 1 with this table. */
export function firstVersion(state: BuilderState, table: Table): Ring {
  const { ring: keyspace, cluster, partitioner, replicas } = state;
  const partitions = partitionCountOf(partitioner);
  const devices = ringDevices(state);
  return firstRing({ keyspace, cluster, partitioner, partitions, replicas, devices, table });
}

/** The devices without what only the builder knows of them; a removed one wants nothing. */
export function ringDevices({ devices }: BuilderState): Ring['devices'] {
  return devices.map((device) => {
    if (device === null) return null;
    const { state, hold: _hold, ramp: _ramp, ...others } = device;
    const { tokens: _tokens, replacedBy: _heir, ...fields } = others;
    return state === 'removed' ? { ...fields, weight: 0 } : fields;
  });
}
