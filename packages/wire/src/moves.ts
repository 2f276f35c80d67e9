// An operator's commands for single moves, sent to the joiner, and the receipts that it issues.
// Pure.
import { movesInFlightMax } from '@ringwright/base/limits';
import {
  completeWaitMsMax,
  forceReasonCharactersMax,
  receiptBytesMax,
  receiptsPerAnswerMax,
} from '@ringwright/base/limits-copies';
import { z } from 'zod';
import {
  assignmentField,
  bytesField,
  countField,
  keyspaceField,
  partitionField,
  versionField,
} from './fields.ts';
import { messageKind } from './message.ts';

/** queued: waits for its turn. reserving: requests a snapshot from the source, and disk space. */
export const loadStages = [
  'queued',
  'paused',
  'reserving',
  'copying',
  'verifying',
  'catching-up',
  'available',
  'failed',
] as const;
export type LoadStage = (typeof loadStages)[number];

/**
 * pause: copies nothing for the moves until resume, not even after a restart.
 * retry: ends what runs for them, and starts again at once.
 * prioritise: puts them before all others, in this order.
 * force: joins with the records at hand if too few devices are left to give all of them.
 */
export const moveActions = ['pause', 'resume', 'retry', 'prioritise', 'force'] as const;
export type MoveAction = (typeof moveActions)[number];

/**
 * Moves that do not join the receiver, and files that it does not refill, are no error: `known`
 * counts those that do.
 */
export const moveControl = messageKind({
  method: 'move-control',
  request: z.strictObject({
    keyspace: keyspaceField,
    action: z.enum(moveActions),
    assignments: z.array(assignmentField).max(movesInFlightMax),
    /** For force: partitions that the receiver holds and refills, not brought by a move. */
    refills: z.optional(z.array(partitionField).max(movesInFlightMax)),
    /** For force, to be put into the receipt; null for the others. */
    reason: z.nullable(z.string().min(1).max(forceReasonCharactersMax)),
  }),
  answer: z.strictObject({ known: countField }),
});

const receiptField = bytesField('receipt', 1, receiptBytesMax);

/** Receipts of moves that the receiver has loaded; other moves have no receipt yet. */
export const moveReceipts = messageKind({
  method: 'move-receipts',
  request: z.strictObject({
    keyspace: keyspaceField,
    assignments: z.array(assignmentField).max(receiptsPerAnswerMax),
  }),
  answer: z.strictObject({ receipts: z.array(receiptField).max(receiptsPerAnswerMax) }),
});

/**
 * Answered with true when the receiver has loaded what it may of that version's moves and has
 * nothing left to drain. Answered with false after `waitMs`, or when another version is active
 * there. The caller must still check the status: true may come from just before a pass that finds
 * more work.
 */
export const movesComplete = messageKind({
  method: 'moves-complete',
  request: z.strictObject({
    keyspace: keyspaceField,
    ringVersion: versionField,
    waitMs: z.int().min(0).max(completeWaitMsMax),
  }),
  answer: z.strictObject({ complete: z.boolean() }),
});
