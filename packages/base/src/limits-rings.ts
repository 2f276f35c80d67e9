// Limits of rings between servers, as limits.ts: hellos, uploads, forks.
import { assert } from './assert.ts';
import { peerCallTimeoutMs, peerRetryMsMax, ringFileBytesMax } from './limits.ts';

const MIB = 1024 * 1024;

/**
 * Versions before its parent that a ring names, 67 bytes each in its manifest: a server that missed
 * no more than so many sees whether a ring is of its own line. Some ten waves of a rollout.
 */
export const ringAncestorsMax = 32;
/** Why an operator took one of two lines of a ring for the right one: a sentence, on each server. */
export const forkReasonCharactersMax = 512;
/**
 * How often a server tells its peers which rings it has: a fork or a missed version shows within
 * it, also where nobody has a request. Some 200 bytes a ring and peer.
 */
export const peerGreetMs = 15_000;
/**
 * So long after a ring is activated a coordinator waits for joiners to count: every device hears of
 * the ring within a second, unless it is away, and then nobody should wait for it.
 */
export const takeoverMsMax = 3_000;
/** Devices that a server meets before it answers anybody: one that remembers it is enough. */
export const startMeetingsMax = 64;
/** And for how long it waits for them: a dead one answers at once, only a stopped one never. */
export const startMeetingMsMax = 1_000;
/** So long after its start others may still be in the pause before they try to reach it again. */
export const peersBackMsMin = peerRetryMsMax;
/** Or in an attempt that began while its machine was off, and in the pause after that. */
export const peersBackMsMax = peerCallTimeoutMs + peerRetryMsMax;
/**
 * Ages that a directory put back from a backup skips: four hours of peerGreetMs, so that peers
 * which heard more of the lost state than the first one asked do not send it to refill again.
 */
export const generationsAfterRestore = 1_000;
/**
 * Ring files up to this size are decoded and audited in one turn of the event loop: 30 ms. 2^20
 * partitions x 3 take 50, 2^24 x 3 over 400. Larger ones are opened in a thread.
 */
export const ringTurnBytesMax = 4 * MIB;
/** Rings that arrive in chunks at the same time: one from each of some tools and peers. */
export const ringUploadsMax = 64;
/** Bytes of all of them that wait to be whole: the largest ring there may be, and small ones. */
export const ringUploadsBytesMax = ringFileBytesMax + 128 * MIB;
/** An upload without a chunk for this long makes room for others: its connection may have broken. */
export const ringUploadIdleMsMax = 30_000;
/** Connections of servers, clients and tools to one server: each costs some 50 KB, and a descriptor. */
export const wireConnectionsMax = 4_096;
/** HTTP connections, those above included. */
export const httpConnectionsMax = 8_192;
/** A connection that says nothing is ended after so long: it has a descriptor for nothing. */
export const firstByteMsMax = 30_000;
/** A handshake takes two round trips; who needs longer holds a place that others want. */
export const tlsHandshakeMsMax = 10_000;
/** Connections of one port that are in one of those two: the oldest goes when one more comes. */
export const unheardConnectionsMax = 1_024;
/** A key, its certificate and those of some issuers have 10 KB. */
export const tlsBundleBytesMax = 256 * 1024;
/** A bundle that was replaced is shown within this time. */
export const tlsBundlePollMs = 1_000;
/** Names a server may be called by: each domain of them is compared with every request's. */
export const allowedHostsMax = 64;
/** Addresses that a server without any ring calls back, because their hellos say so. */
export const unknownPeersMax = 16;
/** Addresses remembered at whose word a directory refilled: of more it would refill all day. */
export const believedPeersMax = 1_024;
/** A server is asked back about what others say in its name at most so often. */
export const askBackMs = 2_000;
/**
 * How far the age that is told of a data directory may lie ahead of the one that is known: a
 * hundred years of peerGreetMs. What is further ahead was never counted by a server.
 */
export const generationLeadMax = 2 ** 28;
/** A server verifies, stores and activates the largest ring within this time, on a slow disk. */
export const ringActivationMsMax = 60_000;
/** A member that lacks a ring has this long to fetch it before one that greets it sends it. */
export const ringRelayCooldownMs = 1_000;
/** A ring that a member refused is sent to it again after this long: it may trust more by then. */
export const ringRelayAgainMs = 600_000;
/** Rings fetched from peers at the same time; further ones wait. */
export const ringFetchesMax = 4;
/** Bytes of all of them, from the first chunk until the ring is active: as uploads. */
export const ringFetchesBytesMax = ringUploadsBytesMax;

assert(ringUploadsBytesMax > ringFileBytesMax, 'the largest ring can arrive beside others');
assert(
  wireConnectionsMax < httpConnectionsMax,
  'plain requests pass when peers take all of theirs',
);
/**
 * Moves of later waves that a version remembers, at some 20 bytes each, in every copy of its file:
 * sixteen waves as large as may be in flight. What is beyond needs another commit.
 */
export const laterMovesMax = 2 ** 20;
/** Steps in which the size of a partition is kept: a thousandth of the largest one is near enough. */
export const sizeLevelMax = 1_000;
/** Partitions of which a ring may keep sizes: at four characters each they are 4 MB in each version. */
export const measuredPartitionsMax = 2 ** 20;
/** Moves that one version may make for even bytes alone: each is looked for on its own. */
export const swapBudgetMax = 1_000;
/**
 * Pairs of a slot and a device that the search for even bytes looks at in a plan: some three
 * seconds. A ring for which they are too few is left as even as it is by then.
 */
export const byteLooksMax = 20_000_000;
