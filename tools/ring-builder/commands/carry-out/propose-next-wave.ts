// The moves that did not fit the last version: one slot of a partition per version, bounded waves.
import { must } from '@ringwright/base/assert';
import { counted } from '@ringwright/base/counted';
import { commitVersion } from '@ringwright/repository/commit-version';
import { readLog } from '@ringwright/repository/folder/read-log';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import { proposeMoves } from '@ringwright/ring/advance-ring';
import type { Context } from '../../cli/verb.ts';
import { ringKey } from '../../versions/signing.ts';
import { authorOf } from '../../versions/stage-verb.ts';
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
  const { ring, id, state } = head;
  const entries = await readLog(context.rings, ring.keyspace);
  const found = wavesLeft(head, entries, context.nowMs());
  const { moves, later } = found.next;
  if (moves.length === 0) return false;
  const left = found.movesLeft - moves.length;
  context.tell(
    `${ring.keyspace}: next wave of the same change, ${counted(moves.length, 'move')}; ${left} left after it`,
  );
  const next = proposeMoves(ring, id, { moves });
  await commitVersion(context.rings, {
    ring: next,
    state: must(state, `version ${ring.version} carries the builder`),
    entry: {
      ...authorOf(context),
      kind: 'advance',
      message: `next wave: ${counted(moves.length, 'move')} proposed`,
      moves: moves.length,
      figures: { movesLeft: left },
      details: {},
    },
    later,
    expected: { head: { version: ring.version, id } },
    key: await ringKey(context),
    override: override ?? (await waveOverride(context.rings, { head, ring: next, entries })),
  });
  return true;
}

/** Whether there is a next wave to propose. */
export async function isWaveLeft(context: Context, head: StoredVersion): Promise<boolean> {
  const entries = await readLog(context.rings, head.ring.keyspace);
  return wavesLeft(head, entries, context.nowMs()).next.moves.length > 0;
}
