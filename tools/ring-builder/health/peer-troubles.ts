// Finds which servers of a ring have no connection to each other. Pure.
import { formatAddress } from '@ringwright/base/server-address';
import type { Ring } from '@ringwright/ring/ring';
import type { ServerStatus } from '../servers/server-status.ts';
import type { Make, ServerReport } from './server-troubles.ts';
import type { Trouble } from './trouble.ts';

/** Servers that have just started are still greeting each other. */
const GREETING_MS_MAX = 60_000;

export function knowsPeers({ uptimeMs }: ServerStatus): boolean {
  return uptimeMs >= GREETING_MS_MAX;
}

/**
 * A network partition between servers that both answer here, or keys that the ring does not name.
 * Copies wait for it, and a rollout would wait without saying why.
 */
export function peerTroubles(
  {
    address: own,
    peers,
    others,
    demands,
  }: Pick<ServerReport, 'address' | 'peers' | 'others' | 'demands'>,
  { keyspace, devices }: Pick<Ring, 'keyspace' | 'devices'>,
  make: Make,
): Trouble[] {
  if (!others.has(own)) return [];
  const missing = peers.flatMap(({ address, connected }) =>
    !connected && others.has(address) ? [address] : [],
  );
  if (missing.length === 0) return [];
  const answer = missing.length === 1 ? 'answers' : 'answer';
  const why = `it has no connection to ${missing.join(' ')}, which ${answer} here`;
  const isKeyless = devices.some((device) => {
    return device !== null && device.key === undefined && missing.includes(formatAddress(device));
  });
  if (demands.tls && isKeyless) {
    const hint = 'apart: with --tls, servers connect only to servers whose keys the ring names';
    const command = `set-device ${keyspace} all --ask-key`;
    return [{ ...make('apart', `${why}; the ring does not name their keys`, command), hint }];
  }
  const hint = 'apart: check the network and the firewalls between those servers';
  return [{ ...make('apart', why, `servers ${keyspace}`), hint }];
}
