// Giving the trust document and beacons to servers: they are signed, so any server may be told.
import { CodedError } from '@ringwright/base/coded-error';
import { isPeerCode } from '@ringwright/base/errors';
import type { Caller } from '@ringwright/wire/call-channel';
import { trustOffer } from '@ringwright/wire/trust';
import { fanOut } from './fan-out.ts';
import type { Target } from './ring-targets.ts';
import { withServer } from './server-connection.ts';

export interface TrustDocuments {
  /** trust.json as it is. */
  readonly roots: Uint8Array;
  readonly beacons: readonly Uint8Array[];
  /** access.json as it is; null: nobody has granted anything. */
  readonly access: Uint8Array | null;
}

export interface GiveOutcome {
  readonly address: string;
  readonly outcome: 'accepted' | 'refused' | 'unreachable';
  readonly code?: string;
  readonly message?: string;
}

/** Writing two small files takes a server this long at most. */
const giveTimeoutMs = 10_000;

export async function offerTrust(server: Caller, documents: TrustDocuments): Promise<void> {
  const { roots, beacons, access } = documents;
  await server.call(trustOffer, { roots, beacons: [...beacons], access }, giveTimeoutMs);
}

export function giveTrust(
  targets: readonly Pick<Target, 'address'>[],
  documents: TrustDocuments,
): Promise<GiveOutcome[]> {
  return fanOut(targets, async ({ address }) => {
    try {
      await withServer(address, (server) => offerTrust(server, documents));
      return { address, outcome: 'accepted' };
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
      const { code, message } = error;
      const outcome = isPeerCode(code) ? 'unreachable' : 'refused';
      return { address, outcome, code, message };
    }
  });
}
