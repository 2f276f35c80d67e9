// The builder state of a new ring: checked settings and no devices. Pure.
import { checkNewKeyspace } from '@ringwright/ring/keyspace-name';
import type { BuilderState } from './builder-state.ts';
import {
  checkMinPartHours,
  checkOverload,
  checkPartitioner,
  checkReplicas,
} from './setting-ranges.ts';
import { checkTokenRules } from './token-rules.ts';

/**
 * Returns the state of a new ring without devices.
 * Errors: NAME_INVALID, and VALUE_OUT_OF_RANGE with the value and its range for every number.
 */
export function createState(settings: Omit<BuilderState, 'devices'>): BuilderState {
  const { ring, cluster, partitioner, replicas, placement, minPartHours, overload } = settings;
  checkNewKeyspace(ring);
  checkReplicas(replicas, checkPartitioner(partitioner));
  checkMinPartHours(minPartHours);
  checkOverload(overload);
  const rules = { ...(placement && { placement }), minPartHours, overload };
  const state = { ring, cluster, partitioner, replicas, ...rules, devices: [] };
  checkTokenRules(state);
  return state;
}
