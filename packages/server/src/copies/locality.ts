// Where a device is, for limits per server and zone: equal texts for equal localities. Pure.
import type { Ring } from '@ringwright/ring/ring';

/** Comparable across keyspaces, unlike device ids, which belong to one ring. */
export interface Locality {
  readonly server: string;
  readonly zone: string;
}

/** Returns null for no device, or a hole. */
export function localityOf({ devices }: Pick<Ring, 'devices'>, id: number | null): Locality | null {
  const device = id === null ? null : devices[id];
  if (device === null || device === undefined) return null;
  return { server: device.ip, zone: `r${device.region}z${device.zone}` };
}

/** Counts how many of `localities` are on the same server, or in the same zone, as `like`. */
export function countAt(
  localities: readonly (Locality | null)[],
  tier: keyof Locality,
  like: Locality | null,
): number {
  if (like === null) return 0;
  return localities.filter((locality) => locality !== null && locality[tier] === like[tier]).length;
}
