// Connects to a cluster: any server can send the ring, which names the other servers.
import { CodedError } from '@ringwright/base/coded-error';
import { clientCallTimeoutMs, clientHedgeMs } from '@ringwright/base/limits';
import { serverAddress } from '@ringwright/base/server-address';
import { parseSessionToken } from '@ringwright/base/session-token';
import type { HintReader } from '@ringwright/node/link/not-reached';
import { keyFingerprint, type ServerProof } from '@ringwright/node/link/prove-server';
import { parseFailureDomain } from '@ringwright/ring/failure-domain';
import { checkKeyspaceName } from '@ringwright/ring/keyspace-name';
import type { ConsistencyLevel } from '@ringwright/wire/coordination';
import { checkOptions, isTexts } from './check-options.ts';
import { Client } from './client.ts';
import { checkConsistency, checkTimeout } from './condition.ts';
import { hedgedRequest } from './hedged-request.ts';
import { RingFollower } from './ring-follower.ts';
import { checkSmear } from './smear.ts';
import { wrongType } from './wrong-type.ts';

export interface ConnectOptions {
  /** Name of the keyspace, which is also the name of its ring. */
  readonly keyspace: string;
  /** Level of requests that name none; default: quorum. */
  readonly consistency?: ConsistencyLevel;
  /** `client.session` of an earlier client: this client sees at least what that one saw. */
  readonly session?: string | null;
  /** Longest wait for one server's answer in ms; default: 15,000. */
  readonly timeoutMs?: number;
  /** ID.SECRET from `ring-builder access grant`; not needed where servers require none. */
  readonly token?: string;
  /** A key and its certificate (PEM) that grant roles, instead of a token. */
  readonly identity?: { readonly key: string; readonly cert: string };
  /**
   * Certificates (PEM) of the authority that signed the servers' certificates; connections then use
   * TLS only. Servers whose keys the ring names must prove those keys.
   */
  readonly ca?: string;
  /** SHA-256 of the public keys of `addresses`, in hex: for servers without an authority. */
  readonly fingerprint?: string | readonly string[];
  /** Ids of the device keys that a ring names for `addresses`: for callers that have that ring. */
  readonly deviceKeys?: readonly string[];
  /** Who reads the hints of errors: by default the programmer; `operator` for a command. */
  readonly reader?: HintReader;
  /** Location of this client, such as r1z2 or r1: servers there are asked first. */
  readonly near?: string;
  /**
   * Each put first waits for a random part of this many ms. So if keys begin with the time, the
   * first writes of a period do not all hit one partition at once. Default: 0.
   */
  readonly smearMs?: number;
}

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
