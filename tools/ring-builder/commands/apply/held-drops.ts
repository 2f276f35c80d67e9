// Drops that servers hold back until an operator confirms them: counts them and confirms them.
import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import { confirmDrops } from '@ringwright/wire/trash';
import { failureOf } from '../../servers/give-trust.ts';
import { fanOut, withServer } from '../../servers/server-connection.ts';
import type { RingStatus } from '../../servers/server-status.ts';

export interface HeldDrops {
  readonly address: string;
  /** Null if the ring does not name the server. */
  readonly device: number | null;
  /** The ring that takes the partitions away from the server. */
  readonly ringId: string;
  readonly drops: number;
  readonly quarantines: number;
  /** Why the first of them is held back, according to the server; empty if it gives no reason. */
  readonly why: string;
}

export interface DropConfirmation extends HeldDrops {
  /** Why the server did not accept the confirmation; empty if it did. */
  readonly refusal: string;
  readonly outcome: 'accepted' | 'refused' | 'unreachable';
}

const confirmTimeoutMs = 20_000;

/** Returns the held drops of the servers that answered. */
export function heldDrops(
  servers: readonly {
    readonly address: string;
    readonly ringStatus: RingStatus | Error | undefined;
  }[],
): HeldDrops[] {
  return servers.flatMap(({ address, ringStatus }): HeldDrops[] => {
    if (ringStatus === undefined || ringStatus instanceof Error) return [];
    const { drops, quarantines } = ringStatus.held;
    if (drops + quarantines === 0) return [];
    const { id: ringId, device, draining, damaged } = ringStatus;
    const [first] = drops > 0 ? draining : damaged;
    return [{ address, device, ringId, drops, quarantines, why: first?.reason ?? '' }];
  });
}

/** Confirms the drops. A server refuses if the ring or the count differs from what was shown. */
export function confirmHeldDrops(
  held: readonly HeldDrops[],
  keyspace: string,
): Promise<DropConfirmation[]> {
  return fanOut(held, async (one) => {
    const { address, ringId, drops, quarantines } = one;
    const request = { keyspace, ringId, count: drops + quarantines };
    const confirmed = await resultOrError(
      withServer(address, (server) => server.call(confirmDrops, request, confirmTimeoutMs)),
    );
    if (!(confirmed instanceof CodedError)) return { ...one, refusal: '', outcome: 'accepted' };
    const { message, outcome } = failureOf(confirmed);
    return { ...one, refusal: message, outcome };
  });
}

/** Says which server did not accept, and why. The message of a peer error may lack the address. */
export function refusalLine({ address, outcome, refusal }: DropConfirmation): string {
  if (outcome === 'refused') return `${address} refused: ${refusal}`;
  return refusal.includes(address) ? refusal : `${address}: ${refusal}`;
}
