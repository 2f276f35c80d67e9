// Finds the loaded moves with a valid receipt from their joiner. Only these may be finalized.
import { must } from '@ringwright/base/assert';
import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { receiptsPerAnswerMax } from '@ringwright/base/limits-copies';
import { isOfMove } from '@ringwright/repository/shared/move-proof';
import type { Move } from '@ringwright/ring/move';
import type { Ring } from '@ringwright/ring/ring';
import { type OpenedReceipt, openReceipt } from '@ringwright/ring/trust/move-receipt';
import { moveReceipts } from '@ringwright/wire/moves';
import type { Context } from '../cli/command.ts';
import { fanOut, withServer } from '../servers/server-connection.ts';
import { byJoiner } from './control-moves.ts';

/**
 * Returns receipts by assignment id; none if the joiners died after loading, since they load again.
 * Throws RECEIPTS_MISSING if all receipts are invalid.
 */
export async function provenMoves(
  context: Context,
  ring: Ring,
  loaded: readonly Move[],
): Promise<ReadonlyMap<number, OpenedReceipt>> {
  const { receipts, faults, away } = await collectReceipts(ring, loaded);
  const proven = withAllNew(
    ring,
    loaded.filter(({ assignment }) => receipts.has(assignment)),
  );
  if (proven.length === 0) {
    if (faults.length > 0) throw unproved(ring, loaded, faults);
    const why = away[0] ?? 'the joiners have restarted';
    context.tell(
      `${ring.keyspace}: ${counted(loaded.length, 'loaded move is waiting for its receipt', 'loaded moves are waiting for receipts')}: ${why}`,
    );
  }
  return new Map(
    proven.map(({ assignment }) => [assignment, must(receipts.get(assignment), 'chosen for it')]),
  );
}

/** Omits new slots unless all of them are included, because they enter the table together. */
export function withAllNew({ moves }: Ring, some: readonly Move[]): readonly Move[] {
  const isNew = ({ from }: Move): boolean => from === null;
  const all = some.filter(isNew).length === moves.filter(isNew).length;
  return all ? some : some.filter((move) => !isNew(move));
}

/** Returns the error that ends the rollout. */
export function unproved(
  ring: Ring,
  moves: readonly Move[],
  faults: readonly string[],
): CodedError {
  const [first] = moves;
  const why = faults[0] ?? 'the joiner has restarted and is loading again';
  return new CodedError(
    'RECEIPTS_MISSING',
    `${counted(moves.length, 'move')} of ${ring.keyspace} loaded, but none has a receipt: ${why}`,
    {
      hint: `ring-builder moves ${ring.keyspace} retry ${first?.partition} loads it again; then run ring-builder rollout ${ring.keyspace}`,
      details: { moves: moves.length, faults },
    },
  );
}

interface CollectedReceipts {
  /** By assignment id. */
  readonly receipts: ReadonlyMap<number, OpenedReceipt>;
  /** What is wrong with the invalid receipts. */
  readonly faults: readonly string[];
  /** Joiners that did not answer, with the reason. */
  readonly away: readonly string[];
}

const receiptsTimeoutMs = 10_000;

/** Collects receipts from joiners. A joiner that has just restarted has none and loads again. */
async function collectReceipts(ring: Ring, moves: readonly Move[]): Promise<CollectedReceipts> {
  const byAssignment = new Map(moves.map((move) => [move.assignment, move]));
  const receipts = new Map<number, OpenedReceipt>();
  const faults: string[] = [];
  const away: string[] = [];
  const take = (line: string, address: string): void => {
    try {
      const receipt = openReceipt(line);
      const move = byAssignment.get(receipt.assignment);
      if (move !== undefined && isOfMove(receipt, move, ring)) {
        receipts.set(move.assignment, { line, receipt });
      } else faults.push(`${address} sent a receipt of another move`);
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
      faults.push(`${address}: ${error.message}`);
    }
  };
  await fanOut([...byJoiner(ring, moves)], async ([address, assignments]) => {
    const lines = await resultOrError(askReceipts(ring, { address, assignments }));
    if (lines instanceof CodedError) away.push(lines.message);
    else for (const line of lines) take(line, address);
  });
  return { receipts, faults, away };
}

async function askReceipts(
  { keyspace }: Ring,
  { address, assignments }: { readonly address: string; readonly assignments: readonly number[] },
): Promise<string[]> {
  return withServer(address, async (server) => {
    const lines: string[] = [];
    for (let at = 0; at < assignments.length; at += receiptsPerAnswerMax) {
      const part = assignments.slice(at, at + receiptsPerAnswerMax);
      const request = { keyspace, assignments: part };
      const { receipts } = await server.call(moveReceipts, request, receiptsTimeoutMs);
      lines.push(...receipts.map((bytes) => Buffer.from(bytes).toString('utf8')));
    }
    return lines;
  });
}
