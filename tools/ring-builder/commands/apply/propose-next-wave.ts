// Proposes the moves that did not fit into the last version (waves are bounded, with one slot of a
// partition per version), and decides whether such a wave passes the change guard.
import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { guardMovedShareMax } from '@ringwright/base/limits';
import { type LogEntry, makesVersion } from '@ringwright/repository/folder/log-entry';
import { readLog } from '@ringwright/repository/folder/read-log';
import { readVersion, type StoredVersion } from '@ringwright/repository/folder/read-version';
import { readTrust } from '@ringwright/repository/folder/trust-file';
import { proposeMoves } from '@ringwright/ring/advance-ring';
import { changeSize, whyLarge } from '@ringwright/ring/audit/large-change';
import type { Ring } from '@ringwright/ring/ring';
import type { Context } from '../../cli/command.ts';
import { advanceHead } from '../../versions/advance-head.ts';
import { wavesLeft } from '../../versions/waves-left.ts';

/**
 * Proposes the moves that the plan of the last commit or revert left for later, without canceled
 * ones. Returns false if nothing can be proposed now. Throws BRAKE if the wave, together with the
 * waves before it, is a large change without an override.
 */
export async function proposeNextWave(
  context: Context,
  head: StoredVersion,
  override: string | null,
): Promise<boolean> {
  const { ring, id } = head;
  const entries = await readLog(context.rings, ring.keyspace);
  const found = wavesLeft(head, entries, context.nowMs());
  const { moves, later } = found.next;
  if (moves.length === 0) return false;
  const left = found.movesLeft - moves.length;
  context.tell(
    `${ring.keyspace}: next wave of the same change: ${counted(moves.length, 'move')}, then ${left} left`,
  );
  const next = proposeMoves(ring, id, { moves });
  await advanceHead(context, head, {
    next,
    message: `next wave: ${counted(moves.length, 'move')} proposed`,
    moves: moves.length,
    figures: { movesLeft: left },
    later,
    override: override ?? (await waveOverride(context.rings, { head, ring: next, entries })),
  });
  return true;
}

/** Whether there is a next wave to propose. */
export async function isWaveLeft(context: Context, head: StoredVersion): Promise<boolean> {
  const entries = await readLog(context.rings, head.ring.keyspace);
  return wavesLeft(head, entries, context.nowMs()).next.moves.length > 0;
}

interface Wave {
  readonly head: StoredVersion;
  /** The version that proposes the wave. */
  readonly ring: Ring;
  readonly entries: readonly LogEntry[];
}

/**
 * Returns the override of the commit that this wave belongs to. Otherwise, if all changes since
 * before that commit, this wave included, are no large change, returns a sentence that says so.
 * Judged alone, a wave may look large, because the device that left with the first wave no longer
 * explains the moves. Null: the change guard decides.
 */
export async function waveOverride(
  rings: string,
  { head, ring, entries }: Wave,
): Promise<string | null> {
  const commitIndex = entries.findLastIndex(({ kind }) => kind === 'commit');
  const commit = entries[commitIndex];
  if (commit === undefined) return null;
  const reason = commit.details['override'];
  if (typeof reason === 'string') return reason;
  const role = (await readTrust(rings))?.trust.root.roles.ring;
  if (role?.override === false) return null;
  // The sum below ignores underQuorum, because slots of a partition that move one after the other
  // never fall below a quorum at once. So this wave is checked for it alone.
  if (changeSize(head.ring, ring).underQuorum > 0) return null;
  const before = entries.slice(0, commitIndex).findLast(makesVersion);
  if (before === undefined) return null;
  // If this file was pruned, the wave is judged alone.
  const base = await resultOrError(readVersion(rings, ring.keyspace, before.version));
  if (base instanceof CodedError) return null;
  const whole = { ...changeSize(base.ring, ring), underQuorum: 0 };
  if (whyLarge(whole, role?.movedShare ?? guardMovedShareMax) !== null) return null;
  return `a later wave of version ${commit.version}: no large change with it`;
}
