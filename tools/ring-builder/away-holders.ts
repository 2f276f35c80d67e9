// What it means for the partitions of a ring that some devices do not answer, in numbers. Pure.
import type { Ring } from '@ringwright/ring/ring';
import { slotsOf } from '@ringwright/ring/slots-of';

export interface AwayHolders {
  /** With one slot or more on a device that is away. */
  readonly partitions: number;
  /** Of these: so few are left that a quorum write is refused. */
  readonly underQuorum: number;
  /** Of these: no device is left. */
  readonly none: number;
}

/** O(slots). */
export function awayHolders(ring: Ring, away: ReadonlySet<number>): AwayHolders {
  let [partitions, underQuorum, none] = [0, 0, 0];
  for (let partition = 0; partition < ring.partitions; partition += 1) {
    const slots = slotsOf(ring, partition);
    const left = slots.filter(({ device }) => !away.has(device)).length;
    if (left === slots.length) continue;
    partitions += 1;
    if (left <= slots.length / 2) underQuorum += 1;
    if (left === 0) none += 1;
  }
  return { partitions, underQuorum, none };
}

export function awayLine(
  ring: Ring,
  servers: readonly { readonly address: string; readonly devices: readonly number[] }[],
): string {
  const names = servers.map(
    ({ address, devices }) => `${devices.map((id) => `d${id}`).join(' ')} (${address})`,
  );
  const away = new Set(servers.flatMap(({ devices }) => devices));
  const { partitions, underQuorum, none } = awayHolders(ring, away);
  return (
    `${ring.keyspace}: goes on without ${names.join(', ')}: ` +
    `${partitions} of ${ring.partitions} partitions have a slot there; ` +
    `${underQuorum} have no quorum without it, ${none} no other device`
  );
}
