// The duties of this device under a ring, found once: O(slots) for some 10 ms in a million
// partitions, asked by every status, hello, review and round of replication.
import { dutiesOf } from '@ringwright/ring/duty-of';
import type { ActiveRing } from './active-ring.ts';

type Duties = ReturnType<typeof dutiesOf>;

const none: Duties = { serve: [], load: [] };
const found = new WeakMap<ActiveRing, Duties>();

/** Nothing for a device that the ring does not name. */
export function activeDuties(active: ActiveRing): Duties {
  const { ring, self } = active;
  if (self === null) return none;
  const known = found.get(active);
  if (known !== undefined) return known;
  const duties = dutiesOf(ring, self);
  found.set(active, duties);
  return duties;
}
