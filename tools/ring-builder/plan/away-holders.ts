// What it means for the partitions of a ring that some devices do not answer, in numbers. Pure.
import type { Ring } from '@ringwright/ring/ring';
import { slotsOf } from '@ringwright/ring/slots-of';
import type { Target } from '../servers/ring-targets.ts';

export interface AwayHolders {
  /** With one slot or more on a device that is away. */
  readonly partitions: number;
  /** Of these: so few are left that a quorum write is refused. */
  readonly underQuorum: number;
  /** Of these: one device is left, which has the only copy. */
  readonly single: number;
  /** Of these: no device is left. */
  readonly none: number;
}

/** O(slots). */
export function awayHolders(ring: Ring, away: ReadonlySet<number>): AwayHolders {
  let [partitions, underQuorum, single, none] = [0, 0, 0, 0];
  for (let partition = 0; partition < ring.partitions; partition += 1) {
    const slots = slotsOf(ring, partition);
    const left = slots.filter(({ device }) => !away.has(device)).length;
    if (left === slots.length) continue;
    partitions += 1;
    if (left <= slots.length / 2) underQuorum += 1;
    if (left === 1) single += 1;
    if (left === 0) none += 1;
  }
  return { partitions, underQuorum, single, none };
}

export type AwayServer = Pick<Target, 'address' | 'devices'>;

/** `d1 (10.0.0.2:6200), d4 (10.0.0.5:6200)`. */
export function awayNames(servers: readonly AwayServer[]): string {
  const names = servers.map(
    ({ address, devices }) => `${devices.map((id) => `d${id}`).join(' ')} (${address})`,
  );
  return names.join(', ');
}

export function awayText(ring: Ring, { partitions, ...left }: AwayHolders): string {
  const { underQuorum, single, none } = left;
  if (partitions === 0) return 'no partition has a slot there';
  return (
    `${partitions} of ${ring.partitions} partitions have a slot there; ${underQuorum} have ` +
    `no quorum without it, ${single} one other device, ${none} no other device`
  );
}

/** What a rollout says of servers that it goes on without. */
export function awayLine(ring: Ring, servers: readonly AwayServer[]): string {
  const holders = awayHolders(ring, new Set(servers.flatMap(({ devices }) => devices)));
  return `${ring.keyspace}: goes on without ${awayNames(servers)}: ${awayText(ring, holders)}`;
}
