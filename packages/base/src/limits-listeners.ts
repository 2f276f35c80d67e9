// Limits of listeners, as limits.ts: what strangers may take of a server, one by one and together.
import { assert } from './assert.ts';
import {
  httpBatchBytesMax,
  keyBytesMax,
  listTurnBytesMax,
  redisConnectionsMax,
  redisRequestBytesMax,
  socketMessageBytesMax,
} from './limits.ts';
import { httpConnectionsMax, unheardConnectionsMax, wireConnectionsMax } from './limits-rings.ts';

const MIB = 1024 * 1024;

/** Wire connections kept for members of rings and operators: a rollout of hundreds of servers. */
export const wireReservedMax = 512;
/** From one address that no ring names: a machine with many programs, or a gateway of them. */
export const wirePerAddressMax = 1_024;
export const httpPerAddressMax = 2_048;
export const redisPerAddressMax = 250;
/** A Redis connection without one whole request by then ends: clients greet at once. */
export const redisFirstRequestMsMax = 30_000;
/**
 * Kept back from Node's own limit, at which it closes connections without looking at them: for
 * those that have said nothing yet, which have no place, and some that are just ending.
 */
export const httpSpareConnections = unheardConnectionsMax + 64;
/** The first line and all headers together: a key of the most bytes, escaped, takes 3 KiB. */
export const httpHeaderBytesMax = 8 * 1024;
/** Headers have this long to arrive: one packet, or two on a bad line. */
export const httpHeadersMsMax = 10_000;
/** Slow or idle clients are cut: a request has this long to arrive. */
export const httpRequestMsMax = 30_000;
/** How often Node looks for those that are late. */
export const httpLateCheckMs = 2_000;
/** A connection over which nothing comes and nothing goes: its reader is gone. */
export const httpSilentMsMax = 60_000;
/** A server that stops answers what is under way for this long: whoever stops it waits 2 s. */
export const httpEndMsMax = 500;
/** How often it ends the connections that have nothing under way any more. */
export const httpEndLookMs = 10;
/**
 * Keys and values of an answer to a scan, which ends with the page that goes beyond it: to make its
 * text takes the thread that serves 5 ms a MiB, and 25 where each byte is escaped.
 */
export const scanAnswerBytesMax = listTurnBytesMax;
/** Bodies of all requests under way: 32 of the largest batches, 256 of the largest values. */
export const httpBodiesBytesMax = 256 * MIB;
/** Begun WebSocket messages of all who are no members or operators: 64 of the largest. */
export const wireBegunBytesMax = 256 * MIB;
/** Less of one message is not counted: what one look at a socket may bring. */
export const wireBegunBytesMin = 64 * 1024;
/** What a piece of a message takes beside its bytes, as long as the rest has not come. */
export const wirePieceBytes = 256;
/** Halves of requests and unread answers of all Redis connections: 16 of the largest requests. */
export const redisHeldBytesMax = 256 * MIB;
/**
 * How long requests of all connections may begin in one turn of the event loop; then others have
 * theirs. 20,000 requests of a stranger, each refused at once, took a second.
 */
export const redisTurnMsMax = 10;
/** What one request does in one turn, where it looks at many partitions. */
export const workTurnMsMax = 10;

assert(wireReservedMax < wireConnectionsMax, 'strangers have places too');
assert(wirePerAddressMax < wireConnectionsMax - wireReservedMax, 'one address does not take all');
assert(httpPerAddressMax < httpConnectionsMax - httpSpareConnections, 'nor here');
assert(redisPerAddressMax < redisConnectionsMax, 'nor here');
assert(httpHeaderBytesMax >= 3 * keyBytesMax + 1024, 'every key fits, and usual headers');
assert(httpBodiesBytesMax >= 16 * httpBatchBytesMax, 'large batches pass side by side');
assert(redisHeldBytesMax >= 8 * redisRequestBytesMax, 'large requests too');
assert(wireBegunBytesMax >= 16 * socketMessageBytesMax, 'and large messages');
