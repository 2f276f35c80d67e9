// The moves that did not fit the last version: one slot of a partition per version, bounded waves.
import { counted } from '@ringwright/base/counted';
import { readLog } from '@ringwright/repository/folder/read-log';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import { proposeMoves } from '@ringwright/ring/advance-ring';
import type { Context } from '../../cli/verb.ts';
import { advanceHead } from '../../versions/advance-head.ts';
import { wavesLeft } from '../../versions/waves-left.ts';
import { waveOverride } from './wave-override.ts';

/**
 * Proposes what the plan of the last commit, or revert, has left for later: these moves and no
 * others, those that were cancelled left out. False when there is nothing to propose now. Throws
 * BRAKE when it is a large change with the waves before it, and nobody said why.
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
    `${ring.keyspace}: next wave of the same change, ${counted(moves.length, 'move')}; ${left} left after it`,
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
