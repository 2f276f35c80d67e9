// Counts what unreachable devices mean for the partitions of a ring. Pure.
import { availabilityOf } from '@ringwright/builder/analysis/availability';
import { liveCountOf } from '@ringwright/ring/partitioner/partitioner';
import type { Ring } from '@ringwright/ring/ring';
import type { SlottedRing } from '@ringwright/ring/slots-of';
import { deviceNames } from '../servers/gone-for-good.ts';
import type { Target } from '../servers/ring-targets.ts';

export interface UnreachableImpact {
  /** Partitions with at least one slot on an unreachable device. */
  readonly partitions: number;
  /** Of these: fewer slots are left than a quorum, so quorum reads and writes are refused. */
  readonly underQuorum: number;
  /** Of these: a single device is left, with the only copy. */
  readonly single: number;
  /** Of these: no device is left. */
  readonly none: number;
}

export function unreachableImpact(
  ring: SlottedRing & Pick<Ring, 'devices'>,
  away: ReadonlySet<number>,
): UnreachableImpact {
  const gone = Uint8Array.from(ring.devices, (_, id) => (away.has(id) ? 1 : 0));
  const found = availabilityOf(ring, gone);
  const { partitionsHit: partitions, belowReadQuorum: underQuorum, oneReplicaLeft: single } = found;
  return { partitions, underQuorum, single, none: found.withoutReplica };
}

type AwayServer = Pick<Target, 'address' | 'devices'>;

/** Returns `d1 (10.0.0.2:6200), d4 (10.0.0.5:6200)`. */
export function awayNames(servers: readonly AwayServer[]): string {
  return servers.map(({ address, devices }) => `${deviceNames(devices)} (${address})`).join(', ');
}

export function awayText(ring: Ring, { partitions, ...left }: UnreachableImpact): string {
  const { underQuorum, single, none } = left;
  if (partitions === 0) return 'no partition has a slot there';
  return (
    `${partitions} of ${liveCountOf(ring.partitioner)} partitions have a slot there; ` +
    `without it, ${underQuorum} have no quorum, ${single} one other device, ${none} no other device`
  );
}

/** Returns a rollout's line about servers that it goes on without. */
export function awayLine(ring: Ring, servers: readonly AwayServer[]): string {
  const holders = unreachableImpact(ring, new Set(servers.flatMap(({ devices }) => devices)));
  return `${ring.keyspace}: continuing without ${awayNames(servers)}: ${awayText(ring, holders)}`;
}
