// Decides whether a server's version belongs to another history of the ring than the one here.
import { CodedError } from '@ringwright/base/coded-error';
import { type LogEntry, makesVersion } from '@ringwright/repository/folder/log-entry';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import { ancestorIdAt } from '@ringwright/ring/audit/fork-point';
import type { VersionId } from '@ringwright/ring/audit/ring-candidate';
import { ringStatus } from '../servers/server-status.ts';

/** Returns false for versions that the log does not name, and for a fork that was settled here. */
export function isOtherLine(entries: readonly LogEntry[], head: VersionId): boolean {
  const logged = entries.find((entry) => makesVersion(entry) && entry.version === head.version);
  if (logged === undefined || logged.id === head.id) return false;
  return !entries.some(
    ({ kind, details, version }) =>
      kind === 'push' && 'settled' in details && version >= head.version,
  );
}

/**
 * Whether our history overrides theirs by a higher epoch. Unsigned rings have no epoch, so a first
 * signed ring overrides nothing.
 */
export function isHigherEpoch(ours: number | null, theirs: number | null): boolean {
  return ours !== null && theirs !== null && ours > theirs;
}

/**
 * Called before a push. Ancestors that the ring itself names are left to the server, which compares
 * them and raises the fork alarm. Throws RING_FORK.
 */
export async function requireOwnLine(
  { ring, id, signing }: Pick<StoredVersion, 'ring' | 'id' | 'signing'>,
  entries: readonly LogEntry[],
  remote: VersionId & { readonly address: string },
): Promise<void> {
  const { keyspace } = ring;
  if (ancestorIdAt({ ...ring, id }, remote.version) !== undefined || !isOtherLine(entries, remote))
    return;
  const status = await ringStatus(remote.address, keyspace);
  const serverEpoch = status instanceof Error ? null : (status.epoch ?? null);
  if (isHigherEpoch(signing?.epoch ?? null, serverEpoch)) return;
  const message = `it has version ${remote.version} of ${keyspace} as ${remote.id.slice(0, 12)}`;
  throw new CodedError('RING_FORK', `${message}, which is a different one here`, {
    details: { ring: keyspace, version: remote.version, theirs: remote.id },
  });
}
