// Connecting to a cluster: any server is enough to learn the ring, and the ring names the others.
import { CodedError } from '@ringwright/base/coded-error';
import { clientCallTimeoutMs } from '@ringwright/base/limits';
import { serverAddress } from '@ringwright/base/server-address';
import { parseSessionToken } from '@ringwright/base/session-token';
import { checkKeyspaceName } from '@ringwright/ring/keyspace-name';
import type { ConsistencyLevel } from '@ringwright/wire/coordination';
import { Client } from './client.ts';
import { RingFollower } from './ring-follower.ts';

export interface ConnectOptions {
  /** Name of the keyspace, which is the ring's. */
  readonly keyspace: string;
  /** Of requests that name none; default: quorum. */
  readonly consistency?: ConsistencyLevel;
  /** `client.session` of an earlier client: what that one saw, this one sees too. */
  readonly session?: string | null;
  /** Longest wait for one server's answer in ms; default: 10,000. */
  readonly timeoutMs?: number;
  /** ID.SECRET that ring-builder access grant made; where servers ask for none it is not needed. */
  readonly token?: string;
}

/**
 * A client for one keyspace, ready to use:
 *
 *     const servers = ['10.0.0.1:6200', '10.0.0.2:6200'];
 *     await using client = await connect(servers, { keyspace: 'notes' });
 *     await client.put('shopping', 'milk');
 *     const record = await client.get('shopping');
 *
 * `addresses` are servers to ask first, in this order: `localhost`, `10.0.0.1:6201`, `[::1]:6200`;
 * without a port it is 6200. Throws USAGE for what is no address, PEER_UNREACHABLE when none
 * answers, RING_UNKNOWN when those that answer do not have the keyspace, WIRE_VERSION_UNKNOWN,
 * NAME_INVALID, SESSION_INVALID, TOKEN_MISSING, TOKEN_REFUSED, PERMISSION_MISSING.
 */
export async function connect(
  addresses: readonly string[],
  options: ConnectOptions,
): Promise<Client> {
  const { consistency = 'quorum', timeoutMs = clientCallTimeoutMs } = options;
  const keyspace = checkKeyspaceName(options.keyspace);
  const seen = options.session ?? null;
  const session = seen === null ? null : parseSessionToken(seen);
  const seeds = addresses.map(serverAddress);
  const follower = new RingFollower(seeds, { keyspace, timeoutMs, token: options.token ?? null });
  let last: unknown = new CodedError('PEER_UNREACHABLE', 'connect() was given no address');
  for (const address of seeds) {
    try {
      await follower.learn(await follower.open(address));
      return new Client(follower, { keyspace, consistency, session, timeoutMs });
    } catch (error) {
      last = error;
    }
  }
  follower.close();
  throw last;
}
