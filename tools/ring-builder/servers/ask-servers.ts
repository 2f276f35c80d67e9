// Asks each server once for its status, after it has checked its own files.
import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import { filesLook } from '@ringwright/wire/files';
import type { Target } from './ring-targets.ts';
import { fanOut, keepingConnections, withServer } from './server-connection.ts';
import { type RingStatus, ringStatus, type ServerStatus, statusOrWhyNot } from './server-status.ts';

/** By address: the status, or the error that prevented it. */
export type StatusByAddress = ReadonlyMap<string, ServerStatus | CodedError>;

/** `rings`: the rings whose files the servers are to check. */
export async function askServers(
  targets: readonly Pick<Target, 'address'>[],
  rings: ReadonlySet<string>,
): Promise<StatusByAddress> {
  const addresses = [...new Set(targets.map(({ address }) => address))];
  const ask = async (address: string) =>
    // One connection for the files of all rings.
    [address, await keepingConnections(() => askServer(address, rings))] as const;
  return new Map(await fanOut(addresses, ask));
}

async function askServer(
  address: string,
  rings: ReadonlySet<string>,
): Promise<ServerStatus | CodedError> {
  const before = await statusOrWhyNot(address);
  if (before instanceof CodedError) return before;
  const lost = new Map<string, LookedAt['damaged']>();
  let hasDamage = false;
  for (const { ring } of before.rings) {
    if (!rings.has(ring)) continue;
    const checked = await resultOrError(checkServerFiles(address, ring));
    // On an error here, the status alone counts.
    if (checked instanceof CodedError) continue;
    const { damaged, log } = checked;
    lost.set(ring, damaged);
    hasDamage ||= damaged.size > 0 || log !== null;
  }
  const status = hasDamage ? await statusOrWhyNot(address) : before;
  if (status instanceof CodedError) return status;
  return { ...status, rings: status.rings.map((one) => withLost(one, lost.get(one.ring))) };
}

type Ring = ServerStatus['rings'][number];

function withLost(ring: Ring, lost: ReadonlyMap<number, string> = new Map()): Ring {
  const known = ring.damaged.map(({ partition, reason }) => [partition, reason] as const);
  const all = new Map([...known, ...lost]);
  return { ...ring, damaged: [...all].map(([partition, reason]) => ({ partition, reason })) };
}

interface LookedAt {
  /** The reason, by partition, why a damaged file cannot be used. */
  readonly damaged: ReadonlyMap<number, string>;
  /** Why the commit log had to begin anew; null if it did not. */
  readonly log: string | null;
}

/** Checking thousands of files on a busy disk takes long. */
const lookTimeoutMs = 10_000;

/** Throws PEER_UNREACHABLE, PEER_FAILED, and errors of the server such as STORE_FAILED. */
export async function checkServerFiles(address: string, keyspace: string): Promise<LookedAt> {
  const { damaged, log } = await withServer(address, (server) =>
    server.call(filesLook, { keyspace }, lookTimeoutMs),
  );
  return { damaged: new Map(damaged.map(({ partition, reason }) => [partition, reason])), log };
}

export interface TargetStatus extends Target {
  /** An error if the server cannot be reached or does not have the ring. */
  readonly ringStatus: RingStatus | CodedError;
}

export function askTargets(ring: string, targets: readonly Target[]): Promise<TargetStatus[]> {
  return fanOut(targets, async (target) => {
    return { ...target, ringStatus: await ringStatus(target.address, ring) };
  });
}
