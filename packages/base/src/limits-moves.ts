// Limits of what operators say of moves, and of the receipts that come back.
import { assert } from './assert.ts';
import { socketMessageBytesMax } from './limits.ts';

/** A sentence or two. */
export const forceReasonCharactersMax = 256;
/** A receipt with 32 merged devices and every number at its largest has about 2,500 bytes. */
export const receiptBytesMax = 3_072;
/** Receipts of one answer of a server. */
export const receiptsPerAnswerMax = 1_024;
/**
 * A server answers a rollout that waits for its moves after this time at the latest: within it a
 * dead connection is noticed, and asking again costs nothing.
 */
export const completeWaitMsMax = 10_000;
/** A device that gets a partition back asks for what it missed, up to this share of the records. */
export const catchUpMissedShareMax = 0.25;
/** Missed records asked for at the same time: hides the round trip. */
export const catchUpReadsAtOnce = 64;

assert(receiptBytesMax * receiptsPerAnswerMax < socketMessageBytesMax, 'they fit a message');
