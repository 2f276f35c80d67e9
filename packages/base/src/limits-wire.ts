// Limits of what arrives over a WebSocket; see limits.ts. They are checked on the bytes, before
// anything is decoded. No program of ours exceeds them: the connection is closed.
import { assert } from './assert.ts';
import { KIB, movesInFlightMax, peerQueueBytesMax, socketMessageBytesMax } from './limits.ts';

/** A frame is sent when it holds this much: larger ones only delay what comes behind them. */
export const frameBytesAim = 256 * KIB;
/**
 * Values in one frame, including nested ones: as many as a frame of frameBytesAim can have (one per
 * byte), above the 170,000 of the largest message (4,096 digests). Decoded in some 30 ms.
 */
export const frameValuesMax = 2 ** 18;
/** Calls and answers in one frame: at 50 us for a call that is refused, 50 ms. */
export const frameCallsMax = 1_024;
/** Writes in one message: those of one turn, and what a device appends to its log in 20 ms. */
export const batchedWritesMax = 1_024;
/** Bytes of one message with many writes, which is a frame by itself. */
export const batchedWritesBytesMax = frameBytesAim;
/** A longer write has a message of its own, which saves one copy of its value. */
export const batchedWriteBytesMax = 8 * KIB;
/**
 * Writes to a joiner that no quorum needs: as many messages go at once in this time, and the writes
 * of further ones wait for its end. Some hundred messages a second, one for each write, took an
 * eighth of a processor.
 */
export const collectedWritesMs = 50;
/** A message in 12 ms: where writes are rarer, nothing is gained and each may need the joiner. */
export const collectedWritesSentMax = 4;
/** Nesting of arrays and maps: a record in a list takes five, details of an error a few more. */
export const frameDepthMax = 16;
/** Fields of one map: the largest message has ten. */
export const frameMapFieldsMax = 64;
/** Bytes of a field name: the longest in use has 20 letters. */
export const frameNameBytesMax = 64;
/**
 * Calls of one connection that name no message or have a wrong form; one more closes it. Each valid
 * call takes one off. Both ends speak one wire version, so a program of ours sends one only now and
 * then, such as a hello that an older release does not understand.
 */
export const misunderstoodCallsMax = 64;
/**
 * Unsent bytes to a peer that keeps calling and reads nothing. Above peerQueueBytesMax its calls
 * are refused, and the refusals are queued too: at some 200 bytes each, 20,000 of them.
 */
export const unreadBytesMax = peerQueueBytesMax + socketMessageBytesMax;
/**
 * Calls of one connection being answered, in bytes of their frames; beyond it the connection is not
 * read. Twice what a program of ours has queued for sending (peerQueueBytesMax).
 */
export const answeringBytesMax = 2 * peerQueueBytesMax;
/** The same for all connections of a server; beyond it each connection gets one frame at a time. */
export const answeringAllBytesMax = 8 * answeringBytesMax;
/** Memory of a call besides its bytes, while it is being answered: a get that waits has 8 KiB. */
export const answeringCallBytes = 8 * KIB;
/** The slowest line that still carries every message, 1 Mbit/s: bytes per millisecond. */
export const slowLinkRate = 125;
/** Shorter messages take a moment on the slowest line. */
export const slowMessageBytesMin = 16 * KIB;
/** Length of a message or hint that is sent to, or comes from, another process. */
export const errorCharactersMax = 4_000;
/**
 * Seconds that a 503 tells an HTTP client to wait: a pushed ring or a busy store is ready in a
 * second.
 */
export const retryAfterSeconds = 1;

assert(frameBytesAim <= frameValuesMax, 'no frame of many calls holds too many values');
assert(socketMessageBytesMax < answeringBytesMax, 'the longest frame is no reason to pause');
assert(movesInFlightMax < frameValuesMax, 'the longest list fits a frame');
