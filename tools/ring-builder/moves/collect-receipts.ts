// Takes the receipts of loaded moves from their joiners, and keeps those that prove the move.
import { CodedError, orCoded } from '@ringwright/base/coded-error';
import { receiptsPerAnswerMax } from '@ringwright/base/limits-moves';
import { isOfMove } from '@ringwright/repository/shared/move-proof';
import type { Move } from '@ringwright/ring/move';
import type { Ring } from '@ringwright/ring/ring';
import { openReceipt } from '@ringwright/ring/trust/move-receipt';
import { moveReceipts } from '@ringwright/wire/moves';
import { fanOut } from '../servers/fan-out.ts';
import { withServer } from '../servers/server-connection.ts';
import { byJoiner } from './control-moves.ts';

export interface CollectedReceipts {
  /** Lines by assignment id. */
  readonly lines: ReadonlyMap<number, string>;
  /** What is wrong with others that were given. */
  readonly faults: readonly string[];
  /** Joiners that did not answer, each with the reason. */
  readonly away: readonly string[];
}

const receiptsTimeoutMs = 10_000;

/** A joiner that has just restarted has none: it loads again. */
export async function collectReceipts(
  ring: Ring,
  moves: readonly Move[],
): Promise<CollectedReceipts> {
  const byAssignment = new Map(moves.map((move) => [move.assignment, move]));
  const lines = new Map<number, string>();
  const faults: string[] = [];
  const away: string[] = [];
  const take = (line: string, address: string): void => {
    try {
      const receipt = openReceipt(line);
      const move = byAssignment.get(receipt.assignment);
      if (move !== undefined && isOfMove(receipt, move, ring)) lines.set(move.assignment, line);
      else faults.push(`${address} gave a receipt of another move`);
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
      faults.push(`${address}: ${error.message}`);
    }
  };
  await fanOut([...byJoiner(ring, moves)], async ([address, assignments]) => {
    const given = await orCoded(askReceipts(ring, { address, assignments }));
    if (given instanceof CodedError) away.push(given.message);
    else for (const line of given) take(line, address);
  });
  return { lines, faults, away };
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
