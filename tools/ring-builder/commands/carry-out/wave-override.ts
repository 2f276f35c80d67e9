// Why a later wave of a commit passes the change guard: who let the commit pass said why, or
// both together are no large change.
import { CodedError, orCoded } from '@ringwright/base/coded-error';
import { guardMovedShareMax } from '@ringwright/base/limits';
import { type LogEntry, makesVersion } from '@ringwright/repository/folder/log-entry';
import { readVersion, type StoredVersion } from '@ringwright/repository/folder/read-version';
import { readTrust } from '@ringwright/repository/folder/trust-file';
import { changeSize, whyLarge } from '@ringwright/ring/audit/large-change';
import type { Ring } from '@ringwright/ring/ring';

interface Wave {
  readonly head: StoredVersion;
  /** The version that proposes it. */
  readonly ring: Ring;
  readonly entries: readonly LogEntry[];
}

/**
 * What the commit of this wave was let through with. Else, where all that was done since before
 * the commit, this wave included, is no large change, a sentence that says so: a wave by itself may
 * look large, for the device that went with the first one does not explain its moves any more.
 * Null: the change guard decides.
 */
export async function waveOverride(
  rings: string,
  { head, ring, entries }: Wave,
): Promise<string | null> {
  const at = entries.findLastIndex(({ kind }) => kind === 'commit');
  const commit = entries[at];
  if (commit === undefined) return null;
  const said = commit.details['override'];
  if (typeof said === 'string') return said;
  const role = (await readTrust(rings))?.trust.root.roles.ring;
  if (role?.override === false) return null;
  // Slots of a partition that move one after the other are never few at once.
  if (changeSize(head.ring, ring).underQuorum > 0) return null;
  const before = entries.slice(0, at).findLast(makesVersion);
  if (before === undefined) return null;
  // Its file may have been pruned: then the wave is judged alone.
  const base = await orCoded(readVersion(rings, ring.keyspace, before.version));
  if (base instanceof CodedError) return null;
  const whole = { ...changeSize(base.ring, ring), underQuorum: 0 };
  if (whyLarge(whole, role?.movedShare ?? guardMovedShareMax) !== null) return null;
  return `a later wave of version ${commit.version}: no large change with it`;
}
