// Makes version 1 of a ring from a builder state, and the devices as servers see them. Pure.
import { firstRing } from '@ringwright/ring/first-ring';
import { partitionCountOf } from '@ringwright/ring/partitioner/partitioner';
import type { Ring, Table } from '@ringwright/ring/ring';
import type { BuilderState } from './builder-state.ts';

export function firstVersion(state: BuilderState, table: Table): Ring {
  const { ring: keyspace, cluster, partitioner, replicas } = state;
  const partitions = partitionCountOf(partitioner);
  const devices = ringDevices(state);
  return firstRing({ keyspace, cluster, partitioner, partitions, replicas, devices, table });
}

/** Returns the devices without the builder's own fields. A removed device has weight 0. */
export function ringDevices({ devices }: BuilderState): Ring['devices'] {
  return devices.map((device) => {
    if (device === null) return null;
    const { state, hold: _hold, ramp: _ramp, ...others } = device;
    const { tokens: _tokens, replacedBy: _heir, ...fields } = others;
    return state === 'removed' ? { ...fields, weight: 0 } : fields;
  });
}
