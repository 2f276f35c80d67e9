// The client package for a ring of the folder, with what a command shows and asks to be proven.
import { CodedError } from '@ringwright/base/coded-error';
import type { Client } from '@ringwright/client/client';
import { connect } from '@ringwright/client/connect';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import { ringTargets } from '../servers/ring-targets.ts';
import { proofOf, shownIdentity, shownToken } from '../servers/server-proofs.ts';

/** By the first server that answers; the others are learnt from it. Throws as connect(). */
export async function connectRing({ ring, state }: StoredVersion): Promise<Client> {
  const { keyspace } = ring;
  let last: unknown = new CodedError('PEER_UNREACHABLE', `${keyspace} has no devices`);
  for (const { address } of ringTargets(ring, state)) {
    const [proof, token, identity] = [await proofOf(address), shownToken(), shownIdentity()];
    try {
      return await connect([address], {
        keyspace,
        ...(token !== null && { token }),
        ...(identity !== null && { identity }),
        ...(proof?.by === 'authority' && { ca: proof.ca }),
        ...(proof !== null && proof.by !== 'authority' && { fingerprint: [...proof.keys] }),
      });
    } catch (error) {
      last = error;
    }
  }
  throw last;
}
