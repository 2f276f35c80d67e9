// The builder state a ring starts from: settings checked, no devices yet. Pure.
import { checkKeyspaceName } from '@ringwright/ring/keyspace-name';
import type { BuilderState } from './builder-state.ts';
import {
  checkMinPartHours,
  checkOverload,
  checkPartitioner,
  checkReplicas,
} from './setting-ranges.ts';

/**
 * A new ring's state without devices.
 * Errors: NAME_INVALID; VALUE_OUT_OF_RANGE with the value and its range, for every number.
 */
export function createState(settings: Omit<BuilderState, 'devices'>): BuilderState {
  const { ring, cluster, partitioner, replicas, minPartHours, overload } = settings;
  checkKeyspaceName(ring);
  checkReplicas(replicas, checkPartitioner(partitioner));
  checkMinPartHours(minPartHours);
  checkOverload(overload);
  return { ring, cluster, partitioner, replicas, minPartHours, overload, devices: [] };
}
