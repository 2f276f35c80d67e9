// What an operator says of single moves to the device that joins, and the receipts it gives. Pure.
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

/** queued: waits for its turn; reserving: asks the source for a snapshot and the disk for room. */
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
 * pause: nothing is copied for the moves until resume, not even after a restart. retry: what runs
 * for them ends, and begins anew at once. prioritise: they come before all others, in this order.
 * force: where too few devices are left to give all records, they join with what there is.
 */
export const moveActions = ['pause', 'resume', 'retry', 'prioritise', 'force'] as const;
export type MoveAction = (typeof moveActions)[number];

/**
 * Moves that do not join the receiver, and files that it does not refill, are no fault: `known`
 * counts those that do.
 */
export const moveControl = messageKind({
  method: 'move-control',
  request: z.strictObject({
    keyspace: keyspaceField,
    action: z.enum(moveActions),
    assignments: z.array(assignmentField).max(movesInFlightMax),
    /** Of force: partitions that the receiver holds and refills, which no move brings. */
    refills: z.optional(z.array(partitionField).max(movesInFlightMax)),
    /** Of force, for the receipt; null for the others. */
    reason: z.nullable(z.string().min(1).max(forceReasonCharactersMax)),
  }),
  answer: z.strictObject({ known: countField }),
});

const receiptField = bytesField('receipt', 1, receiptBytesMax);

/** Receipts of moves that the receiver has loaded; of others there is none yet. */
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
 * nothing to give up; with false after `waitMs`, or when another version is active there. Who asks
 * looks for itself then: true may be of the moment before a pass that finds more to do.
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
