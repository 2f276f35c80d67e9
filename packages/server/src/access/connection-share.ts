// How many of the connections that limits.ts allows a process has descriptors for.
import { redisConnectionsMax } from '@ringwright/base/limits';
import { httpConnectionsMax } from '@ringwright/base/limits-rings';
import type { MachineLimits } from '@ringwright/node/machine-limits';
import { affordableConnections } from '@ringwright/partition/open-store';

/**
 * Returns the factor for every limit on connections, 1 at most. Without it, clients could take the
 * descriptors that the next segment of the log needs, and the store would fail. `ports`: those that
 * serve HTTP.
 */
export function connectionShare(ports: number, machine: MachineLimits): number {
  const allowed = ports * httpConnectionsMax + redisConnectionsMax;
  return Math.min(1, affordableConnections(machine) / allowed);
}
