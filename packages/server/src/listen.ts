// The addresses that a server listens on.
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { CodedError } from '@ringwright/base/coded-error';
import { formatAddress, splitAddress } from '@ringwright/base/server-address';
import type { ServerOptions } from './options.ts';

/**
 * The addresses for HTTP and for messages of servers: the general one, and the separate ones for
 * operators and for replication, where they are configured.
 */
export function listenAddressesOf(
  options: Pick<ServerOptions, 'listen' | 'operatorListen' | 'replicationListen'>,
): string[] {
  const { listen: address, operatorListen, replicationListen } = options;
  return [address, operatorListen, replicationListen].filter((value) => value !== undefined);
}

/** Returns all addresses to listen on, also that of the Redis protocol if it is enabled. */
export function addressesOf(options: ServerOptions): string[] {
  const { listen: address, redisPort } = options;
  const redis = redisPort === undefined ? [] : [redisAddress(address, redisPort)];
  return [...listenAddressesOf(options), ...redis];
}

export function redisAddress(address: string, port: number): string {
  return formatAddress({ ip: splitAddress(address).ip, port });
}

/**
 * Takes all addresses for a moment, so that a server that cannot listen fails before it opens
 * anything. The addresses are released again: a client that connects before requests are answered
 * should be refused rather than wait. Throws LISTEN_FAILED.
 */
export async function requireFree(addresses: readonly string[]): Promise<void> {
  await using servers = new AsyncDisposableStack();
  for (const address of addresses) {
    const server = createServer((socket) => socket.destroy());
    await listen(server, address);
    servers.use(server);
  }
}

/** Throws LISTEN_FAILED. */
export async function listen(server: Server, address: string): Promise<void> {
  const { ip, port } = splitAddress(address);
  server.listen(port, ip);
  await once(server, 'listening').catch((cause: NodeJS.ErrnoException) => {
    const message = `cannot listen on ${address}: ${cause.message}`;
    const hint = hintFor(cause.code, port);
    throw new CodedError('LISTEN_FAILED', message, { hint, details: { address }, cause });
  });
}

function hintFor(code: string | undefined, port: number): string {
  if (code === 'EADDRINUSE') {
    return (
      'another program listens there; stop it or choose another --listen or --redis-port' +
      ` (ss -ltnp 'sport = :${port}' names it)`
    );
  }
  if (code === 'EACCES') return 'ports below 1024 need a privilege: choose a higher one';
  return 'give --listen an address of this machine';
}
