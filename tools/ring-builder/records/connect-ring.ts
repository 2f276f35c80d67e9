// Connects the client package to a ring of the folder, with the command's credentials and the
// proofs that it requires of servers.
import { CodedError } from '@ringwright/base/coded-error';
import type { Client } from '@ringwright/client/client';
import { connect } from '@ringwright/client/connect';
import { mostSpecificFailure } from '@ringwright/client/failure-kind';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import { ringTargets } from '../servers/ring-targets.ts';
import { credentialsFor, noteInsecure } from '../servers/server-proofs.ts';

/** Connects through the first server that answers, which names the others. Throws as connect(). */
export async function connectRing({ ring, state }: StoredVersion): Promise<Client> {
  const { keyspace } = ring;
  let connectError: unknown = null;
  const targets = ringTargets(ring, state);
  for (const { address } of targets) {
    const { proof, token, identity } = await credentialsFor(address);
    try {
      const client = await connect([address], {
        keyspace,
        reader: 'operator',
        ...(token !== null && { token }),
        ...(identity !== null && { identity }),
        ...(proof?.by === 'authority' && { ca: proof.ca }),
        ...(proof?.by === 'key' && { fingerprint: [...proof.keys] }),
        ...(proof?.by === 'device' && { deviceKeys: [...proof.keys] }),
      });
      for (const target of targets) noteInsecure(target.address, 'unasked');
      return client;
    } catch (error) {
      connectError = mostSpecificFailure(connectError, error);
    }
  }
  throw (connectError ?? new CodedError('PEER_UNREACHABLE', `${keyspace} has no devices`)) as Error;
}
