// Whether a version that a server has belongs to another history of the ring than the one here.
import { CodedError, orCoded } from '@ringwright/base/coded-error';
import { type LogEntry, makesVersion } from '@ringwright/repository/folder/log-entry';
import { readVersion, type StoredVersion } from '@ringwright/repository/folder/read-version';
import type { VersionId } from '@ringwright/ring/audit/ring-candidate';

/** Of versions that the log does not name nobody can tell; a fork that was settled here is none. */
export function isOtherLine(entries: readonly LogEntry[], said: VersionId): boolean {
  const made = entries.find((entry) => makesVersion(entry) && entry.version === said.version);
  if (made === undefined || made.id === said.id) return false;
  return !entries.some((entry) => isSettlement(entry) && entry.version >= said.version);
}

/** As settle notes it. */
function isSettlement({ kind, details }: LogEntry): boolean {
  return kind === 'push' && 'settled' in details;
}

/**
 * For a push. Of a direct successor the server compares the parent itself, and raises the alarm. A
 * history under a higher epoch goes over what others made under a lower one. Throws RING_FORK.
 */
export async function requireOwnLine(
  { rings, version }: { readonly rings: string; readonly version: StoredVersion },
  entries: readonly LogEntry[],
  said: VersionId,
): Promise<void> {
  const { keyspace, version: number } = version.ring;
  if (number <= said.version + 1 || !isOtherLine(entries, said)) return;
  const own = await orCoded(readVersion(rings, keyspace, said.version));
  if (own instanceof CodedError) return; // pruned: its epoch is not known
  if ((own.signing?.epoch ?? 0) < (version.signing?.epoch ?? 0)) return;
  const [theirs, ours] = [said.id, own.id].map((id) => id.slice(0, 12));
  throw new CodedError(
    'RING_FORK',
    `it has version ${said.version} of ${keyspace} as ${theirs}, which is ${ours} here`,
    { details: { ring: keyspace, version: said.version, theirs: said.id, ours: own.id } },
  );
}
