// Before a server answers anybody: it meets devices that hold what it holds, so that they can say
// whether its directory is older than they remember.
import { startMeetingMsMax, startMeetingsMax } from '@ringwright/base/limits-rings';
import { holdersOf } from '@ringwright/ring/slots-of';
import { activeDuties } from '../rings/active-duties.ts';
import { type ActiveRing, addressOf } from '../rings/active-ring.ts';

export interface MeetPorts {
  readonly rings: { list(): readonly ActiveRing[] };
  readonly meet: (address: string) => Promise<unknown>;
  /** Resolves after this many ms. */
  readonly pause: (ms: number) => Promise<unknown>;
}

/** Resolves when each of them was met or cannot be, or when one takes too long. */
export async function meetHolders({ rings, meet, pause }: MeetPorts): Promise<void> {
  const addresses = new Set<string>();
  for (const active of rings.list()) {
    for (const partition of activeDuties(active).serve) {
      if (addresses.size >= startMeetingsMax) break;
      for (const device of holdersOf(active.ring, partition)) {
        if (device !== active.self) addresses.add(addressOf(active, device));
      }
    }
  }
  if (addresses.size === 0) return;
  const met = Promise.allSettled([...addresses].map((address) => meet(address)));
  await Promise.race([met, pause(startMeetingMsMax)]);
}
