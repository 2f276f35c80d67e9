// The moves that did not fit the last version: one slot of a partition per version, bounded waves.
import { must } from '@ringwright/base/assert';
import { moveCount, type NextWave, nextWave } from '@ringwright/builder/later-waves';
import { commitVersion } from '@ringwright/repository/commit-version';
import { laterWavesOf } from '@ringwright/repository/later-section';
import type { LogEntry } from '@ringwright/repository/log-entry';
import { readLog } from '@ringwright/repository/read-log';
import type { StoredVersion } from '@ringwright/repository/read-version';
import { proposeMoves } from '@ringwright/ring/advance-ring';
import { MS_PER_HOUR } from './hours.ts';
import { hoursOf } from './prepare-plan.ts';
import { ringKey } from './signing.ts';
import { authorOf } from './stage-verb.ts';
import type { Context } from './verb.ts';
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
  const { moves, later } = readyWave(context, head, entries);
  const left = moveCount(later);
  if (moves.length === 0) {
    const line = left > 0 ? restLine(head, left) : forgottenLine(head, entries);
    if (line !== null) context.tell(line);
    return false;
  }
  context.tell(
    `${ring.keyspace}: next wave of the same change, ${moves.length} moves; ${left} are left after it`,
  );
  const next = proposeMoves(ring, id, { moves });
  await commitVersion(context.rings, {
    ring: next,
    state: must(state, `version ${ring.version} carries the builder`),
    entry: {
      ...authorOf(context),
      kind: 'advance',
      message: `next wave: ${moves.length} moves proposed`,
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
  return readyWave(context, head, entries).moves.length > 0;
}

/** What of the next wave may move now. */
function readyWave(
  context: Context,
  { ring, state, extraSections }: StoredVersion,
  entries: readonly LogEntry[],
): NextWave {
  return nextWave(laterWavesOf(extraSections), {
    head: ring,
    state: must(state, `version ${ring.version} carries the builder`),
    times: { versionHours: hoursOf(entries), nowHours: context.nowMs() / MS_PER_HOUR },
  });
}

function restLine({ ring, state }: StoredVersion, left: number): string {
  const hours = state?.minPartHours ?? 0;
  const { keyspace } = ring;
  return `${keyspace}: ${left} moves are left, whose partitions moved less than ${hours} hours ago; type rollout ${keyspace} later`;
}

/** Versions of programs from before later waves were noted say only how many moves they left. */
function forgottenLine({ ring }: StoredVersion, entries: readonly LogEntry[]): string | null {
  const counted = entries.findLast(({ figures }) => figures['movesLeft'] !== undefined);
  const left = counted?.figures['movesLeft'] ?? 0;
  if (counted === undefined || left === 0) return null;
  const { keyspace } = ring;
  return `${keyspace}: ${left} moves that version ${counted.version} left were not noted; plan ${keyspace} shows what a commit goes on with`;
}
