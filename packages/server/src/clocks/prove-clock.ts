// Checks that another holder of the key was heard and will take stamps of this clock. This is done
// before a stamp is issued, so that no record is stored here that every other holder refuses.
import { CodedError } from '@ringwright/base/coded-error';
import { clockAheadMsMax } from '@ringwright/base/limits';
import type { MaybePromise } from '@ringwright/base/maybe-promise';
import { holdersOf } from '@ringwright/ring/slots-of';
import { type ActiveRing, addressOf } from '../rings/active-ring.ts';
import type { PeerClocks } from './peer-clocks.ts';

interface ClockProofPorts {
  readonly clocks: PeerClocks;
  readonly nowMs: () => number;
  /** Resolves when the server at the address has been greeted; at once when it is connected. */
  readonly greet: (address: string) => Promise<unknown>;
}

/**
 * Returns at once if this device holds nothing of the partition, or is its only holder, or if
 * another holder was heard since this process started. Otherwise greets the other holders first.
 * Throws CLOCK_AHEAD if all that answer would refuse stamps of this clock, NOT_ENOUGH_REPLICAS if
 * none answers: a quorum needs one.
 */
export function proveClock(
  ports: ClockProofPorts,
  active: ActiveRing,
  partition: number,
): MaybePromise<void> {
  const { ring, self } = active;
  const holders = holdersOf(ring, partition);
  if (self === null || !holders.includes(self)) return undefined;
  const others = holders.filter((device) => device !== self);
  // On the path of every write: usually the first holder is enough, and no other address is
  // formatted.
  const isProven = others.some((device) => agrees(ports, addressOf(active, device)));
  if (isProven || others.length === 0) return undefined;
  return meet(
    ports,
    others.map((device) => addressOf(active, device)),
  );
}

function agrees({ clocks, nowMs }: ClockProofPorts, address: string): boolean {
  const aheadMs = clocks.aheadOf(address, nowMs());
  return aheadMs !== null && aheadMs <= clockAheadMsMax;
}

async function meet(ports: ClockProofPorts, addresses: readonly string[]): Promise<void> {
  const greetings = addresses.map(async (address) => {
    await ports.greet(address);
    if (!agrees(ports, address)) throw new Error(`${address} has another time`);
  });
  try {
    await Promise.any(greetings);
  } catch {
    throw unproven(ports, addresses);
  }
}

function unproven({ clocks, nowMs }: ClockProofPorts, addresses: readonly string[]): CodedError {
  const differencesMs = addresses.flatMap((address) => clocks.aheadOf(address, nowMs()) ?? []);
  if (differencesMs.length === 0) {
    const message = `this server has heard none of ${addresses.join(', ')} since it started`;
    return new CodedError('NOT_ENOUGH_REPLICAS', `${message}: its clock may be wrong`, {
      hint: 'start one of them, or write through another server',
      details: { outcome: 'rejected' },
    });
  }
  const aheadMs = Math.min(...differencesMs);
  const message = `the clock here is ${aheadMs} ms ahead of the other holders that answered`;
  return new CodedError('CLOCK_AHEAD', `${message}; the maximum is ${clockAheadMsMax}`, {
    hint: 'correct the clocks, or write through another server',
    details: { aheadMs, outcome: 'rejected' },
  });
}
