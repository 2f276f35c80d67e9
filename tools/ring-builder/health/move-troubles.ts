// Whether the moves of a ring stand still although nobody paused them. Pure.
import { counted } from '@ringwright/base/counted';
import type { MoveRow } from '../moves/move-rows.ts';
import type { JudgedHead } from './judge-ring.ts';
import type { Trouble } from './trouble.ts';

/** A rollout that runs commits its next version within seconds after the last copy is there. */
const stalledAfterMs = 5 * 60_000;

const running = new Set<MoveRow['stage']>(['reserving', 'copying', 'verifying', 'catching-up']);

/** One at most: which moves, `moves list` tells. */
export function moveTroubles(
  { ring: { keyspace }, committedMs }: JudgedHead,
  moves: readonly MoveRow[],
  nowMs: number,
): Trouble[] {
  const stalled = (why: string, command: string): Trouble[] => [
    { ring: keyspace, address: null, kind: 'stalled', why, command },
  ];
  const failed = moves.filter(({ stage }) => stage === 'failed');
  const [first] = failed;
  if (first !== undefined) {
    const all = counted(failed.length, 'move');
    const why = `${all} failed; partition ${first.partition}: ${first.reason}`;
    return stalled(why, `moves ${keyspace} list`);
  }
  const open = moves.filter(({ stage }) => stage !== 'paused');
  const isOld = nowMs - committedMs > stalledAfterMs;
  if (open.length === 0 || !isOld || open.some(({ stage }) => running.has(stage))) return [];
  const said = open.find(({ reason }) => reason !== '');
  const told = said === undefined ? '' : `; partition ${said.partition}: ${said.reason}`;
  const since = `${new Date(committedMs).toISOString().slice(0, 19)}Z`;
  return stalled(
    `${counted(open.length, 'move')}, none copies, no version since ${since}${told}`,
    `rollout ${keyspace}`,
  );
}
