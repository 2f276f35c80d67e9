// Limits of what comes over a WebSocket, as limits.ts: checked on the bytes, before anything is
// decoded. Whoever goes beyond them is no program of ours: the connection is closed.
import { assert } from './assert.ts';
import { movesInFlightMax, peerQueueBytesMax, socketMessageBytesMax } from './limits.ts';

const KIB = 1024;

/** A frame is sent when it holds this much: larger ones only delay what comes behind them. */
export const frameBytesAim = 256 * KIB;
/**
 * Values in one frame, those inside others included: as many as a frame of frameBytesAim may have
 * (one a byte), above the 170,000 of the largest message (4,096 digests). Decoded in some 30 ms.
 */
export const frameValuesMax = 2 ** 18;
/** Calls and answers in one frame: at 50 us for a call that is refused, 50 ms. */
export const frameCallsMax = 1_024;
/** Writes in one message: those of one turn, and what a device appends to its log in 20 ms. */
export const batchedWritesMax = 1_024;
/** Of one message with many writes: it is a frame by itself. */
export const batchedWritesBytesMax = frameBytesAim;
/** A write with more has a message of its own, where its value is copied once less. */
export const batchedWriteBytesMax = 8 * KIB;
/** Arrays and maps inside each other: a record in a list takes five, details of an error a few more. */
export const frameDepthMax = 16;
/** Fields of one map: the largest message has ten. */
export const frameMapFieldsMax = 64;
/** The name of a field: the longest in use has 20 letters. */
export const frameNameBytesMax = 64;
/**
 * Calls of one connection that name no message or do not have its form; one more closes it. Each
 * call that makes sense takes one off: both ends speak one wire version, so a program of ours sends
 * one now and then, such as a hello that an older one does not understand.
 */
export const misunderstoodCallsMax = 64;
/**
 * Unsent bytes to an end that asks on and on and reads nothing. Above peerQueueBytesMax its calls
 * are refused, and the refusals wait too: at some 200 bytes each, 20,000 of them.
 */
export const unreadBytesMax = peerQueueBytesMax + socketMessageBytesMax;
/**
 * Calls of one connection that are being answered, in bytes of their frames; beyond it the
 * connection is not read. Twice what a program of ours has waiting to be sent (peerQueueBytesMax).
 */
export const answeringBytesMax = 2 * peerQueueBytesMax;
/** Of all connections of a server; beyond it each brings one frame at a time. */
export const answeringAllBytesMax = 8 * answeringBytesMax;
/** What a call takes besides its bytes, while it is being answered. */
export const answeringCallBytes = 1 * KIB;
/** Of a message or a hint that goes to, or comes from, another process. */
export const errorCharactersMax = 4_000;
/** What a 503 tells an HTTP client to wait: a pushed ring or a busy store is there in a second. */
export const retryAfterSeconds = 1;

assert(frameBytesAim <= frameValuesMax, 'no frame of many calls holds too many values');
assert(socketMessageBytesMax < answeringBytesMax, 'the longest frame is no reason to pause');
assert(movesInFlightMax < frameValuesMax, 'the longest list fits a frame');
