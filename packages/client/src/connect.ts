// Connects to a cluster: any server can send the ring, which names the other servers.
import { CodedError } from '@ringwright/base/coded-error';
import { clientCallTimeoutMs, clientHedgeMs } from '@ringwright/base/limits';
import { serverAddress } from '@ringwright/base/server-address';
import { parseSessionToken } from '@ringwright/base/session-token';
import { keyFingerprint, type ServerProof } from '@ringwright/node/link/prove-server';
import { parseFailureDomain } from '@ringwright/ring/failure-domain';
import { checkKeyspaceName } from '@ringwright/ring/keyspace-name';
import { checkOptions, isTexts } from './check-options.ts';
import { Client } from './client.ts';
import { checkConsistency, checkTimeout } from './condition.ts';
import { hedgedRequest } from './hedged-request.ts';
import type { ConnectOptions } from './options.ts';
import { RingFollower } from './ring-follower.ts';
import { checkSmear } from './smear.ts';
import { wrongType } from './wrong-type.ts';

/**
 * Creates a client for one keyspace, ready to use:
 *
 *     const servers = ['10.0.0.1:6200', '10.0.0.2:6200'];
 *     await using client = await connect(servers, { keyspace: 'notes' });
 *     await client.put('shopping', 'milk');
 *     const record = await client.get('shopping');
 *
 * `addresses` are the servers to ask first, in this order: `localhost`, `10.0.0.1:6201`,
 * `[::1]:6200`; the default port is 6200. Throws USAGE for an empty list and for an invalid
 * address, token or option, CONSISTENCY_INVALID, VALUE_OUT_OF_RANGE, NAME_INVALID, SESSION_INVALID,
 * PEER_UNREACHABLE when no server answers, PEER_FAILED when another program answers, PEER_UNPROVEN
 * when a server proves another key or certificate, RING_UNKNOWN when all servers answer that they
 * do not have the keyspace, WIRE_VERSION_UNKNOWN, TOKEN_MISSING, TOKEN_REFUSED, PERMISSION_MISSING.
 */
export async function connect(
  addresses: readonly string[],
  options: ConnectOptions,
): Promise<Client> {
  checkOptions('connect', options);
  const seeds = seedsOf(addresses);
  const consistency = checkConsistency(options.consistency ?? 'quorum');
  const timeoutMs = checkTimeout(options.timeoutMs ?? clientCallTimeoutMs);
  const smearMs = checkSmear(options.smearMs ?? 0);
  // Without the default, the check would take undefined for a word.
  const keyspace = checkKeyspaceName(options.keyspace ?? '');
  const sessionText = options.session ?? null;
  const session = sessionText === null ? null : parseSessionToken(sessionText);
  const [token, proof] = [tokenOf(options), proofOf(options)];
  const { identity = null, reader = 'programmer' } = options;
  const near = options.near === undefined ? null : parseFailureDomain(options.near);
  const settings = { keyspace, timeoutMs, token, identity, proof, near, reader };
  const follower = new RingFollower(seeds, settings);
  try {
    await hedgedRequest({
      addresses: seeds,
      ask: async (address) => follower.learn(await follower.open(address)),
      hedgeMs: clientHedgeMs,
      onSlow: (address) => follower.avoid(address),
      mayHelp: () => true,
    });
    return new Client(follower, { keyspace, consistency, session, timeoutMs, smearMs });
  } catch (error) {
    follower.close();
    throw error;
  }
}

function seedsOf(addresses: readonly string[]): string[] {
  const hint = "write connect(['10.0.0.1:6200'], { keyspace: 'notes' })";
  if (isTexts(addresses)) {
    if (addresses.length > 0) return addresses.map(serverAddress);
    throw new CodedError('USAGE', 'connect() needs at least one address', { hint });
  }
  throw wrongType('the list of addresses', addresses, { wanted: 'a list of strings', hint });
}

/** A token read from a file ends with a line feed. No header can carry other characters. */
function tokenOf({ token }: ConnectOptions): string | null {
  if (token === undefined) return null;
  const word = token.trim();
  if (/^[!-~]+$/.test(word)) return word;
  const hint = 'ring-builder access grant creates one: ID.SECRET';
  throw new CodedError('USAGE', 'the token of connect() is not a valid token', { hint });
}

function proofOf({ ca, fingerprint, deviceKeys }: ConnectOptions): ServerProof | null {
  if (deviceKeys !== undefined) return { by: 'device', keys: new Set(deviceKeys) };
  if (fingerprint !== undefined) {
    const keys = typeof fingerprint === 'string' ? [fingerprint] : fingerprint;
    return { by: 'key', keys: new Set(keys.map(keyFingerprint)) };
  }
  return ca === undefined ? null : { by: 'authority', ca };
}
