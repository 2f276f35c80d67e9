// Where a device stands, for limits per server and zone: equal texts for equal places. Pure.
import type { Ring } from '@ringwright/ring/ring';

/** The same whatever the keyspace: ids of devices are of one ring. */
export interface Place {
  readonly server: string;
  readonly zone: string;
}

/** Null for no device, or a hole. */
export function placeOf({ devices }: Pick<Ring, 'devices'>, id: number | null): Place | null {
  const device = id === null ? null : devices[id];
  if (device === null || device === undefined) return null;
  return { server: device.ip, zone: `r${device.region}z${device.zone}` };
}

/** How many of `places` are on the same server, or in the same zone, as `like`. */
export function countAt(
  places: readonly (Place | null)[],
  tier: keyof Place,
  like: Place | null,
): number {
  if (like === null) return 0;
  return places.filter((place) => place !== null && place[tier] === like[tier]).length;
}
