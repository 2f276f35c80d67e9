// The duties of this device under a ring, computed once. That takes O(slots), some 10 ms for a
// million partitions, and every status, hello, pass and replication round asks for them.
import { setImmediate } from 'node:timers/promises';
import { getOrMake } from '@ringwright/base/get-or-make';
import { ringTurnBytesMax } from '@ringwright/base/limits-rings';
import { dutiesOf, loadsOf, servedBetween } from '@ringwright/ring/duty-of';
import type { ActiveRing } from './active-ring.ts';

type Duties = ReturnType<typeof dutiesOf>;

const none: Duties = { serve: [], load: [] };
const found = new WeakMap<ActiveRing, Duties>();

/** Table entries read in one turn of the event loop: some 10 ms. */
const SLOTS_PER_TURN = 2 ** 21;

/**
 * Computes the duties of a large ring before its activation, in several turns: 2^24 partitions take
 * 150 ms. For smaller rings they are computed on demand.
 */
export async function prepareDuties(active: ActiveRing): Promise<void> {
  const { ring, self, bytes } = active;
  if (self === null || bytes.length <= ringTurnBytesMax) return;
  const serve: number[] = [];
  const step = Math.ceil(SLOTS_PER_TURN / ring.table.length);
  for (let from = 0; from < ring.partitions; from += step) {
    const until = Math.min(from + step, ring.partitions);
    for (const partition of servedBetween(ring, self, { from, until })) serve.push(partition);
    await setImmediate();
  }
  found.set(active, { serve, load: loadsOf(ring, self) });
}

/** Returns no duties for a device that the ring does not name. */
export function activeDuties(active: ActiveRing): Duties {
  const { ring, self } = active;
  return self === null ? none : getOrMake(found, active, () => dutiesOf(ring, self));
}
