// Combines the answers of a ring's servers, and counts who is connected to whom. Pure.
import { must } from '@ringwright/base/assert';
import { formatAddress } from '@ringwright/base/server-address';
import type { Ring } from '@ringwright/ring/ring';
import type { StatusByAddress } from '../servers/ask-servers.ts';
import type { Target } from '../servers/ring-targets.ts';
import { ringIn, type ServerStatus } from '../servers/server-status.ts';
import { knowsPeers } from './peer-troubles.ts';
import type { ReferenceHead } from './reference-head.ts';
import type { Demands, ServerReport } from './server-report.ts';

export function serverReports(
  { ring }: ReferenceHead,
  targets: readonly Target[],
  answers: StatusByAddress,
): ServerReport[] {
  const requestAddresses = byReplicationAddress(ring);
  const statuses = targets.map(({ address, devices }) => {
    const status = must(answers.get(address), `${address} was asked`);
    const named = status instanceof Error ? [] : status.peers;
    const peers = named.map((peer) => {
      return { ...peer, address: requestAddresses.get(peer.address) ?? peer.address };
    });
    return { address, devices, status, peers };
  });
  // A server without the ring has no peers to connect to yet.
  const grown = statuses.filter(
    ({ status }) =>
      !(status instanceof Error) &&
      knowsPeers(status) &&
      status.rings.some((one) => one.ring === ring.keyspace),
  );
  const others = new Set(grown.map(({ address }) => address));
  const seenCounts = countSeen(statuses);
  const demands = demandsOf(
    statuses.flatMap(({ status }) => (status instanceof Error ? [] : status)),
  );
  return statuses.map((one): ServerReport => {
    const { address, status } = one;
    const ringStatus = ringIn(status, { address, ring: ring.keyspace });
    return { ...one, ringStatus, others, demands, seenBy: seenCounts.get(address) ?? 0 };
  });
}

function demandsOf(statuses: readonly ServerStatus[]): Demands {
  const signed = statuses.filter(({ trust }) => Array.isArray(trust));
  return {
    trust: signed.length > 0,
    tls: statuses.some(({ demandsTls }) => demandsTls === true),
    access: signed.some(({ insecure }) => insecure !== true),
  };
}

/** Maps replication addresses to request addresses, because servers may report peers by either. */
function byReplicationAddress({ devices }: Pick<Ring, 'devices'>): ReadonlyMap<string, string> {
  return new Map(
    devices.flatMap((device) =>
      device?.replication === undefined
        ? []
        : [[formatAddress(device.replication), formatAddress(device)] as const],
    ),
  );
}

/** Returns, by address, how many servers have a connection to it. */
function countSeen(
  servers: readonly { readonly peers: ServerStatus['peers'] }[],
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { peers } of servers) {
    const connected = peers.filter((peer) => peer.connected).map(({ address }) => address);
    for (const address of new Set(connected)) counts.set(address, (counts.get(address) ?? 0) + 1);
  }
  return counts;
}
