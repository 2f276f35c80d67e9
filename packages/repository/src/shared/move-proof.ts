// Finds the moves that a version finalizes, and checks that each is proved by its joiner's receipt.
// Pure.
import { CodedError } from '@ringwright/base/coded-error';
import type { Finding } from '@ringwright/base/finding';
import { sha256 } from '@ringwright/base/sha256';
import type { Move } from '@ringwright/ring/move';
import type { Ring } from '@ringwright/ring/ring';
import type { MoveReceipt, OpenedReceipt } from '@ringwright/ring/trust/move-receipt';
import { z } from 'zod';
import type { LogEntry } from '../folder/log-entry.ts';

/** What the log says of a version that finalized moves: the number of receipts, and their hash. */
const proofSchema = z.object({
  receipts: z.object({ count: z.int(), sha256: z.string() }),
  /** Moves whose joiners may lack records, with the operator's reason. */
  forced: z
    .array(z.object({ partition: z.int(), assignment: z.int(), reason: z.string() }))
    .default([]),
});
type MoveProof = z.infer<typeof proofSchema>;
type ForcedMove = MoveProof['forced'][number];

/** Returns null for versions that finalized nothing. */
export function proofOf({ details }: Pick<LogEntry, 'details'>): MoveProof | null {
  const parsed = proofSchema.safeParse(details);
  return parsed.success ? parsed.data : null;
}

/** Returns the details that the log keeps of a version's receipts. */
export function proofDetails(
  opened: readonly OpenedReceipt[],
): Pick<MoveProof, 'receipts'> & Partial<Pick<MoveProof, 'forced'>> {
  const receipts = { count: opened.length, sha256: sha256(receiptsText(opened)) };
  const forced = forcedMoves(opened.map(({ receipt }) => receipt));
  return { receipts, ...(forced.length > 0 && { forced }) };
}

/** Returns the moves that receipts mark as forced by an operator. */
export function forcedMoves(receipts: readonly MoveReceipt[]): ForcedMove[] {
  return receipts.flatMap(({ partition, assignment, forced }) => {
    return forced === null ? [] : [{ partition, assignment, reason: forced }];
  });
}

/** Returns the text of a version's receipts file: one line each. */
export function receiptsText(receipts: readonly Pick<OpenedReceipt, 'line'>[]): string {
  return receipts.map(({ line }) => `${line}\n`).join('');
}

/** Returns moves of `previous` whose joiners are in the table of `next`. */
export function finalizedMoves(
  previous: Pick<Ring, 'moves'>,
  next: Pick<Ring, 'moves' | 'table'>,
): Move[] {
  const stillInFlight = new Set(next.moves.map(({ assignment }) => assignment));
  return previous.moves.filter(
    ({ assignment, partition, replica, to }) =>
      !stillInFlight.has(assignment) && next.table[replica]?.[partition] === to,
  );
}

interface JudgedProof {
  /** Empty if each finalized move has exactly one matching receipt, and there are no others. */
  readonly findings: Finding[];
  /** The receipts that could be opened. */
  readonly receipts: readonly MoveReceipt[];
}

/** Checks receipts, or errors of opening them, against the difference of two rings. */
export function judgeProof(
  { previous, next }: { readonly previous: Ring; readonly next: Ring },
  opened: readonly (MoveReceipt | CodedError)[],
): JudgedProof {
  const findings: Finding[] = [];
  const receipts: MoveReceipt[] = [];
  const report = (code: string, message: string): void => void findings.push({ code, message });
  const unprovedMoves = new Map(
    finalizedMoves(previous, next).map((move) => [move.assignment, move]),
  );
  for (const receipt of opened) {
    if (receipt instanceof CodedError) {
      report(receipt.code, receipt.message);
      continue;
    }
    receipts.push(receipt);
    const { assignment, partition } = receipt;
    const move = unprovedMoves.get(assignment);
    if (move === undefined || !isOfMove(receipt, move, next)) {
      report('RECEIPT_STRAY', `a receipt of partition ${partition} belongs to no finalized move`);
    } else unprovedMoves.delete(assignment);
  }
  for (const { partition, from, to } of unprovedMoves.values()) {
    const route = `${from === null ? 'new' : `d${from}`} → d${to}`;
    report('RECEIPTS_MISSING', `partition ${partition} moved ${route} without a receipt`);
  }
  return { findings, receipts };
}

/** Whether the receipt is for this move of this ring. */
export function isOfMove(
  receipt: MoveReceipt,
  move: Move,
  { cluster, keyspace, version }: Pick<Ring, 'cluster' | 'keyspace' | 'version'>,
): boolean {
  return (
    receipt.cluster === cluster &&
    receipt.keyspace === keyspace &&
    receipt.version <= version &&
    receipt.assignment === move.assignment &&
    receipt.partition === move.partition &&
    receipt.replica === move.replica &&
    receipt.from === move.from &&
    receipt.to === move.to
  );
}

/**
 * Returns, with the reason, partitions whose last finalized move was forced and not accepted by an
 * operator since: they may have lost writes.
 */
export function unprovedPartitions(entries: readonly LogEntry[]): Map<number, string> {
  const unproved = new Map<number, string>();
  for (const { details } of entries) {
    for (const { partition, reason } of proofOf({ details })?.forced ?? []) {
      unproved.set(partition, reason);
    }
    const cleared = z.array(z.int()).safeParse(details['unproved']);
    for (const partition of cleared.data ?? []) unproved.delete(partition);
  }
  return unproved;
}
