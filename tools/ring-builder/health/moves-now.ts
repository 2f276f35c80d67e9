// Summarizes for status what servers report of the moves of a head.
import { CodedError } from '@ringwright/base/coded-error';
import { isPeerCode } from '@ringwright/base/errors';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import type { Context, Lines } from '../cli/command.ts';
import { askMoves } from '../moves/ask-moves.ts';
import { rateClause, ratesBy, ratesText } from '../moves/copy-rates.ts';
import { type MoveStage, moveRows } from '../moves/move-rows.ts';
import { countStages } from '../moves/print-board.ts';
import { stuckOf } from '../moves/stuck-moves.ts';
import { adviceOn } from '../servers/advice.ts';
import type { ServerFailure } from '../servers/advice-rule.ts';
import { deviceNames } from '../servers/gone-for-good.ts';
import { ringTargets } from '../servers/ring-targets.ts';
import { adviceContextOf } from './advice-context.ts';

interface MovesNow {
  /** Number of moves by stage, without files to drop. */
  readonly stages: Readonly<Partial<Record<MoveStage, number>>>;
  /** Servers that do not answer. */
  readonly silent: readonly ServerFailure[];
  /** The command to type instead of rollout, for Context.next; null: rollout. */
  readonly instead: string | null;
  readonly lines: Lines;
}

/** Returns null if nothing is in flight. */
export async function movesNow(context: Context, head: StoredVersion): Promise<MovesNow | null> {
  const { ring, state } = head;
  if (ring.moves.length === 0) return null;
  const targets = ringTargets(ring, state);
  const statuses = await askMoves(ring, targets);
  const rows = moveRows(ring, statuses).filter(({ assignment }) => assignment !== null);
  const silent = targets.flatMap(({ address, devices }): ServerFailure[] => {
    const status = devices.map((id) => statuses.get(id)).find((one) => one !== undefined);
    const isAway = status instanceof CodedError && isPeerCode(status.code);
    return isAway ? [{ address, devices, code: status.code }] : [];
  });
  const { rates, unanswered } = ratesBy(targets, statuses);
  const counts = Map.groupBy(rows, ({ stage }) => stage);
  const advice = adviceOn(await adviceContextOf(context, head), silent);
  // As in health: a move to an unreachable server waits for that server.
  const reachable = rows.filter(({ to }) => to === null || !(statuses.get(to) instanceof Error));
  const stuck = stuckOf(head, reachable, statuses);
  const areAllPaused = rows.length > 0 && counts.get('paused')?.length === rows.length;
  const clause = rateClause(ratesText(rates, rates.size + unanswered.length), areAllPaused);
  return {
    stages: Object.fromEntries([...counts].map(([stage, { length }]) => [stage, length])),
    silent,
    instead:
      stuck?.next ?? advice?.command ?? (areAllPaused ? `moves ${ring.keyspace} resume all` : null),
    lines: [
      `moves now: ${countStages(rows)}${clause === '' ? '' : `; ${clause}`}`,
      ...silent.map(
        ({ address, devices }) => `${address} does not answer: ${deviceNames(devices)}`,
      ),
      advice?.text,
      stuck?.text,
    ],
  };
}
