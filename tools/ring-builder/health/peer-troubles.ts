// Finds which servers of a ring have no connection to each other, or refuse each other. Pure.
import { formatAddress } from '@ringwright/base/server-address';
import type { Ring } from '@ringwright/ring/ring';
import type { ServerStatus } from '../servers/server-status.ts';
import type { Make, ServerReport } from './server-report.ts';
import type { Trouble } from './trouble.ts';

/** Servers that have just started are still greeting each other. */
const GREETING_MS_MAX = 60_000;

export function knowsPeers({ uptimeMs }: ServerStatus): boolean {
  return uptimeMs >= GREETING_MS_MAX;
}

type Report = Pick<ServerReport, 'address' | 'peers' | 'others' | 'demands'>;
type Named = Pick<Ring, 'keyspace' | 'devices'>;

/**
 * A network partition between servers that both answer here, keys that the ring does not name, or
 * a missing token. Copies wait for it, and a rollout would wait without saying why.
 */
export function peerTroubles(report: Report, ring: Named, make: Make): Trouble[] {
  if (!report.others.has(report.address)) return [];
  return [...unconnected(report, ring, make), ...refused(report, make)];
}

function unconnected(
  { peers, others, demands }: Report,
  { keyspace, devices }: Named,
  make: Make,
): Trouble[] {
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

/** Servers without keys in the ring refuse each other from the first grant on. */
function refused({ peers, others }: Report, make: Make): Trouble[] {
  const refusing = peers.flatMap(({ address, refuses = false }) =>
    refuses && others.has(address) ? [address] : [],
  );
  if (refusing.length === 0) return [];
  const who = `${refusing.join(' ')} ${refusing.length === 1 ? 'refuses' : 'refuse'}`;
  const why = `${who} its requests: it shows neither a key of the ring nor a token with role peer`;
  const hint = 'apart: restart the servers with --token-file FILE, of access grant NAME --peer';
  return [{ ...make('apart', why, 'access grant servers --peer --out FILE'), hint }];
}
