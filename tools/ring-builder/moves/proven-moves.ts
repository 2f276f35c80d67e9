// Which of the loaded moves have a receipt, so that they may be finalized.
import { must } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import type { Move } from '@ringwright/ring/move';
import type { Ring } from '@ringwright/ring/ring';
import type { Context } from '../cli/verb.ts';
import { collectReceipts } from './collect-receipts.ts';

/**
 * Receipts by assignment id. None when the joiners died after they had loaded: then they load
 * again. Throws RECEIPTS_MISSING when all that they give is wrong.
 */
export async function provenMoves(
  context: Context,
  ring: Ring,
  loaded: readonly Move[],
): Promise<ReadonlyMap<number, string>> {
  const { lines, faults, away } = await collectReceipts(ring, loaded);
  const proven = withAllNew(
    ring,
    loaded.filter(({ assignment }) => lines.has(assignment)),
  );
  if (proven.length === 0) {
    if (faults.length > 0) throw unproved(ring, loaded, faults);
    const why = away[0] ?? 'the joiners have restarted';
    context.tell(
      `${ring.keyspace}: ${counted(loaded.length, 'loaded move waits for its receipt', 'loaded moves wait for receipts')}: ${why}`,
    );
  }
  return new Map(
    proven.map(({ assignment }) => [assignment, must(lines.get(assignment), 'chosen for it')]),
  );
}

/** New slots enter the table together. */
export function withAllNew({ moves }: Ring, some: readonly Move[]): readonly Move[] {
  const isNew = ({ from }: Move): boolean => from === null;
  const all = some.filter(isNew).length === moves.filter(isNew).length;
  return all ? some : some.filter((move) => !isNew(move));
}

/** Throw it to end the rollout. */
export function unproved(
  ring: Ring,
  moves: readonly Move[],
  faults: readonly string[],
): CodedError {
  const [first] = moves;
  const why = faults[0] ?? 'the joiner has restarted and loads again';
  return new CodedError(
    'RECEIPTS_MISSING',
    `${counted(moves.length, 'move')} of ${ring.keyspace} loaded, and none has a receipt: ${why}`,
    {
      hint: `ring-builder moves ${ring.keyspace} retry ${first?.partition} loads again; then ring-builder rollout ${ring.keyspace}`,
      details: { moves: moves.length, faults },
    },
  );
}
