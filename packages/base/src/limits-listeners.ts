// Limits of listeners; see limits.ts: what unknown clients may take of a server, alone and
// together.
import { assert } from './assert.ts';
import {
  clockAheadMsMax,
  httpBatchBytesMax,
  KIB,
  keyBytesMax,
  listTurnBytesMax,
  MIB,
  redisConnectionsMax,
  redisRequestBytesMax,
  socketMessageBytesMax,
} from './limits.ts';
import { httpConnectionsMax, silentConnectionsMax, wireConnectionsMax } from './limits-rings.ts';

/** Wire connections kept for members of rings and operators: a rollout of hundreds of servers. */
export const wireReservedMax = 512;
/** Connections from one address that no ring names: a machine with many programs, or a gateway. */
export const wirePerAddressMax = 1_024;
export const httpPerAddressMax = 2_048;
export const redisPerAddressMax = 250;
/** Time for the first whole request of a Redis connection: clients greet at once. */
export const redisFirstRequestMsMax = 30_000;
/**
 * A Redis connection without traffic for this long is probed (TCP keep-alive): one whose client has
 * vanished ends 10 s later, and firewalls, which forget idle connections within minutes, keep it.
 */
export const redisProbeMs = 60_000;
/**
 * Connections held back from Node's own limit, at which it closes connections unseen: for those
 * that have sent nothing yet and hold no place, and some that are just ending.
 */
export const httpSpareConnections = silentConnectionsMax + 64;
/** Request line and headers together: the longest key, escaped, takes 3 KiB. */
export const httpHeaderBytesMax = 8 * 1024;
/** Time for the headers to arrive: one packet, or two on a bad line. */
export const httpHeadersMsMax = 10_000;
/** Time for a request to arrive: slow or idle clients are disconnected. */
export const httpRequestMsMax = 30_000;
/**
 * Share of the machine's memory for each of seven budgets of bytes, the six below and that of calls
 * in progress, where it is less than the budget: less than a third for all of them.
 */
export const listenerMemoryShare = 1 / 24;
/** Two of the largest requests must fit into a budget, however small the machine is. */
export const listenerBudgetBytesMin = 32 * MIB;
/** Memory of a request that waits for the answers to earlier ones, as Node parses it. */
export const httpWaitingRequestBytes = 2 * KIB;
/** Waiting requests of all connections: 32,000. Few clients send the next one before an answer. */
export const httpWaitingBytesMax = 64 * MIB;
/** Answers of all connections that their clients have not read: 256 of the largest values. */
export const httpUnreadBytesMax = 256 * MIB;
/** How often Node checks for late requests. */
export const httpLateCheckMs = 2_000;
/** A connection without traffic for this long is closed: its reader is gone. */
export const httpSilentMsMax = 60_000;
/** How long a stopping server answers requests in flight: whoever stops it waits 2 s. */
export const httpEndMsMax = 500;
/**
 * How long, in ms, the input of a refused connection is still read: closing while the client sends
 * would hide the answer. Then the connection is destroyed, even if the client keeps it open.
 */
export const refusedLingerMs = 500;
/** How often a stopping server closes the connections that have nothing in flight any more. */
export const httpEndLookMs = 10;
/**
 * Keys and values in an answer to a scan, which ends with the page that exceeds this. Formatting
 * takes the serving thread 5 ms per MiB, and 25 ms if each byte is escaped.
 */
export const scanAnswerBytesMax = listTurnBytesMax;
/** Partitions that what one page reads may be in, after splits: more are for a new scan. */
export const scanSourcesMax = 4_096;
/** Of these, partitions that are read at once: each page has up to 2 MiB from each of its slots. */
export const scanSourcesAtOnce = 8;
/** Bodies that arrive, of all requests: 32 of the largest batches, 256 of the largest values. */
export const httpBodiesBytesMax = 256 * MIB;
/** Long values that are being written through a server: each takes some four times its bytes. */
export const longWritesBytesMax = 256 * MIB;
/** Shorter values are limited by the number of requests that connections may have in progress. */
export const longValueBytesMin = 16 * KIB;
/** Incomplete WebSocket messages of all but members and operators: 64 of the largest. */
export const wireBegunBytesMax = 256 * MIB;
/** A message with fewer bytes is not counted: one read of a socket may bring as much. */
export const wireBegunBytesMin = 64 * 1024;
/** Memory of a fragment besides its bytes, while the message is incomplete. */
export const wirePieceBytes = 256;
/** Incomplete requests and unread answers of all Redis connections: 16 of the largest requests. */
export const redisHeldBytesMax = 256 * MIB;
/**
 * How long requests of all connections may begin in one turn of the event loop; then other work
 * gets its turn. 20,000 requests of an unknown client, each refused at once, took a second.
 */
export const redisTurnMsMax = 10;
/** Time per turn for one request that looks at many partitions. */
export const workTurnMsMax = 10;
/** Bytes of long values that requests read in one turn: 1 MiB takes 2 ms, with its hash. */
export const longReadsBytesMax = 4 * MIB;
/**
 * How far, in ms, a session token may move the clock beyond all stamps known here. Anyone who may
 * write one key can forge a token. A limit of clockAheadMsMax would let it push the stamps of this
 * server so far ahead that a replica with a slightly slower clock refuses its writes.
 */
export const sessionAheadMsMax = clockAheadMsMax / 2;

assert(wireReservedMax < wireConnectionsMax, 'strangers have places too');
assert(wirePerAddressMax < wireConnectionsMax - wireReservedMax, 'one address does not take all');
assert(httpPerAddressMax < httpConnectionsMax - httpSpareConnections, 'nor here');
assert(redisPerAddressMax < redisConnectionsMax, 'nor here');
assert(httpHeaderBytesMax >= 3 * keyBytesMax + 1024, 'every key fits, and usual headers');
assert(httpBodiesBytesMax >= 16 * httpBatchBytesMax, 'large batches pass side by side');
assert(redisHeldBytesMax >= 8 * redisRequestBytesMax, 'large requests too');
assert(wireBegunBytesMax >= 16 * socketMessageBytesMax, 'and large messages');
