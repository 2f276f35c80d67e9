// Which moves a version finalizes, and whether each is proved by the receipt of its joiner. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import type { Finding } from '@ringwright/base/finding';
import { sha256 } from '@ringwright/base/sha256';
import type { Move } from '@ringwright/ring/move';
import type { Ring } from '@ringwright/ring/ring';
import {
  type MoveReceipt,
  type OpenedReceipt,
  openReceipt,
} from '@ringwright/ring/trust/move-receipt';
import { z } from 'zod';
import type { LogEntry } from '../folder/log-entry.ts';

/** What the log says of a version that finalized moves: how many receipts, and of which bytes. */
const proofSchema = z.object({
  receipts: z.object({ count: z.int(), sha256: z.string() }),
  /** Moves whose joiners may lack records, in an operator's words. */
  forced: z
    .array(z.object({ partition: z.int(), assignment: z.int(), reason: z.string() }))
    .default([]),
});
type MoveProof = z.infer<typeof proofSchema>;
type ForcedMove = MoveProof['forced'][number];

/** Null for versions that finalized nothing. */
export function proofOf({ details }: Pick<LogEntry, 'details'>): MoveProof | null {
  const parsed = proofSchema.safeParse(details);
  return parsed.success ? parsed.data : null;
}

export function proofDetails(
  opened: readonly OpenedReceipt[],
): Pick<MoveProof, 'receipts'> & Partial<Pick<MoveProof, 'forced'>> {
  const receipts = { count: opened.length, sha256: sha256(receiptsText(opened)) };
  const forced = forcedMoves(opened.map(({ receipt }) => receipt));
  return { receipts, ...(forced.length > 0 && { forced }) };
}

/** What receipts say of moves that an operator forced. */
export function forcedMoves(receipts: readonly MoveReceipt[]): ForcedMove[] {
  return receipts.flatMap(({ partition, assignment, forced }) => {
    return forced === null ? [] : [{ partition, assignment, reason: forced }];
  });
}

/** The file of a version's receipts: one line each. */
export function receiptsText(receipts: readonly Pick<OpenedReceipt, 'line'>[]): string {
  return receipts.map(({ line }) => `${line}\n`).join('');
}

/** Moves of `previous` that the table of `next` has followed. */
export function finalizedMoves(
  previous: Pick<Ring, 'moves'>,
  next: Pick<Ring, 'moves' | 'table'>,
): Move[] {
  const left = new Set(next.moves.map(({ assignment }) => assignment));
  return previous.moves.filter(
    ({ assignment, partition, replica, to }) =>
      !left.has(assignment) && next.table[replica]?.[partition] === to,
  );
}

interface JudgedProof {
  /** Empty: each finalized move has exactly one receipt that names it, and there is no other. */
  readonly findings: Finding[];
  /** Those that could be opened. */
  readonly receipts: readonly MoveReceipt[];
}

/** Receipts, or why one could not be opened, against the difference of two rings. */
export function judgeProof(
  { previous, next }: { readonly previous: Ring; readonly next: Ring },
  opened: readonly (MoveReceipt | CodedError)[],
): JudgedProof {
  const findings: Finding[] = [];
  const receipts: MoveReceipt[] = [];
  const report = (code: string, message: string): void => void findings.push({ code, message });
  const open = new Map(finalizedMoves(previous, next).map((move) => [move.assignment, move]));
  for (const receipt of opened) {
    if (receipt instanceof CodedError) {
      report(receipt.code, receipt.message);
      continue;
    }
    receipts.push(receipt);
    const { assignment, partition } = receipt;
    const move = open.get(assignment);
    if (move === undefined || !isOfMove(receipt, move, next)) {
      report('RECEIPT_STRAY', `a receipt of partition ${partition} is of no finalized move`);
    } else open.delete(assignment);
  }
  for (const { partition, from, to } of open.values()) {
    const route = `${from === null ? 'new' : `d${from}`} → d${to}`;
    report('RECEIPTS_MISSING', `partition ${partition} went ${route} without a receipt`);
  }
  return { findings, receipts };
}

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

export function readReceipt(line: string): MoveReceipt | CodedError {
  try {
    return openReceipt(line);
  } catch (error) {
    if (error instanceof CodedError) return error;
    throw error;
  }
}

/**
 * Partitions whose last finalized move was forced, and that nobody has taken on since: they may
 * have lost writes. With the reason that was given.
 */
export function unprovedPartitions(entries: readonly LogEntry[]): Map<number, string> {
  const unproved = new Map<number, string>();
  for (const { details } of entries) {
    for (const { partition, reason } of proofOf({ details })?.forced ?? []) {
      unproved.set(partition, reason);
    }
    const taken = z.array(z.int()).safeParse(details['unproved']);
    for (const partition of taken.data ?? []) unproved.delete(partition);
  }
  return unproved;
}
