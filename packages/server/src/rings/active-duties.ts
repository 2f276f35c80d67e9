// The duties of this device under a ring, found once: O(slots) for some 10 ms in a million
// partitions, asked by every status, hello, pass of the reconciler and round of replication.
import { setImmediate } from 'node:timers/promises';
import { getOrMake } from '@ringwright/base/get-or-make';
import { ringTurnBytesMax } from '@ringwright/base/limits-rings';
import { dutiesOf, loadsOf, servedBetween } from '@ringwright/ring/duty-of';
import type { ActiveRing } from './active-ring.ts';

type Duties = ReturnType<typeof dutiesOf>;

const none: Duties = { serve: [], load: [] };
const found = new WeakMap<ActiveRing, Duties>();

/** Reads of the table in one turn of the event loop: some 10 ms. */
const SLOTS_PER_TURN = 2 ** 21;

/**
 * Finds those of a large ring that is about to be activated in several turns: of 2^24 partitions
 * they take 150 ms. Those of others are found when they are asked for.
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

/** Nothing for a device that the ring does not name. */
export function activeDuties(active: ActiveRing): Duties {
  const { ring, self } = active;
  return self === null ? none : getOrMake(found, active, () => dutiesOf(ring, self));
}
