// Sends trust documents, access documents and beacons to servers. All are signed, so any server may
// receive them.
import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import { type ErrorCode, isPeerCode } from '@ringwright/base/errors';
import { printTable } from '@ringwright/base/print-table';
import type { Caller } from '@ringwright/wire/call-channel';
import { trustOffer } from '@ringwright/wire/trust';
import type { Target } from './ring-targets.ts';
import { fanOut, withServer } from './server-connection.ts';

export interface TrustDocuments {
  /** The bytes of trust.json. */
  readonly roots: Uint8Array;
  readonly beacons: readonly Uint8Array[];
  /** The bytes of access.json; null: no access has been granted. */
  readonly access: Uint8Array | null;
}

interface GiveOutcome {
  readonly address: string;
  readonly outcome: 'accepted' | 'refused' | 'unreachable';
  readonly code?: string;
  readonly message?: string;
}

/** The longest time a server needs to write two small files. */
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
    const answer = await resultOrError(
      withServer(address, (server) => offerTrust(server, documents)),
    );
    if (answer instanceof CodedError) return { address, ...failureOf(answer) };
    return { address, outcome: 'accepted' };
  });
}

/** Returns the outcome for a server that refused or could not be reached. */
export function failureOf({ code, message, hint }: CodedError): {
  readonly outcome: 'refused' | 'unreachable';
  readonly code: ErrorCode;
  readonly message: string;
  /** What to add to the command if the server closed the connection, as servers with --tls do. */
  readonly hint?: string;
} {
  const outcome = isPeerCode(code) ? 'unreachable' : 'refused';
  const isHung = code === 'PEER_UNREACHABLE' && hint !== '';
  return { outcome, code, message, ...(isHung && { hint }) };
}

/** Returns a table of the servers that did not accept, and the exit code of the command. */
export function notGiven(servers: readonly GiveOutcome[]) {
  const failed = servers.filter(({ outcome }) => outcome !== 'accepted');
  const someAway = failed.some(({ outcome }) => outcome === 'unreachable');
  const table = printTable(failed, [
    { head: 'SERVER', cell: ({ address }) => address },
    { head: 'CODE', cell: ({ code }) => code ?? '' },
    { head: 'WHY', cell: ({ message }) => message ?? '' },
  ]);
  const exit = someAway ? 4 : failed.length > 0 ? 5 : 0;
  return { count: failed.length, table: failed.length === 0 ? [] : table, someAway, exit };
}
