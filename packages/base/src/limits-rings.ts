// Limits of rings between servers; see limits.ts: hellos, uploads, forks.
import { assert } from './assert.ts';
import { MIB, peerCallTimeoutMs, peerRetryMsMax, ringFileBytesMax } from './limits.ts';

/**
 * Versions before its parent that a ring names, 67 bytes each in its manifest. A server that missed
 * no more than these can tell whether a ring is of its own line. Some ten waves of a rollout.
 */
export const ringAncestorsMax = 32;
/** An operator's reason for a line of a forked ring: a sentence, stored on each server. */
export const forkReasonCharactersMax = 512;
/**
 * How often a server tells its peers which rings it has: a fork or a missed version shows within
 * this time, even without requests. Some 200 bytes per ring and peer.
 */
export const peerGreetMs = 15_000;
/**
 * How long a coordinator waits for joiners to count after a ring is activated. Every device hears
 * of the ring within a second unless it is away, and then nobody should wait for it.
 */
export const takeoverMsMax = 3_000;
/**
 * Devices that a server greets before it answers requests: a single one that remembers it is
 * enough.
 */
export const startMeetingsMax = 64;
/** How long it waits for them: a dead device fails at once, only a suspended one never answers. */
export const startMeetingMsMax = 1_000;
/** After its start, how long other servers may still pause before they try to reach it again. */
export const peerReconnectMsMin = peerRetryMsMax;
/** The same including an attempt that began while its machine was off, and the pause after that. */
export const peerReconnectMsMax = peerCallTimeoutMs + peerRetryMsMax;
/**
 * Ages that a directory restored from a backup skips: four hours of peerGreetMs. So peers that
 * heard a higher age of the lost state than the first peer asked do not send it to refill again.
 */
export const generationsAfterRestore = 1_000;
/**
 * Ring files up to this size are decoded and audited in one turn of the event loop: 30 ms. 2^20
 * partitions x 3 take 50 ms, 2^24 x 3 over 400 ms. Larger ones are opened in a thread.
 */
export const ringTurnBytesMax = 4 * MIB;
/** Rings that arrive in chunks at the same time: one from each of some tools and peers. */
export const ringUploadsMax = 64;
/** Bytes of all incomplete uploads: the largest possible ring, and small ones. */
export const ringUploadsBytesMax = ringFileBytesMax + 128 * MIB;
/** An upload without chunks for this long makes room for others: its connection may have broken. */
export const ringUploadIdleMsMax = 30_000;
/** Connections of servers, clients and tools to one server: each takes 50 KB and a descriptor. */
export const wireConnectionsMax = 4_096;
/** HTTP connections, including those above. */
export const httpConnectionsMax = 8_192;
/** A connection that sends nothing for this long is closed: it wastes a descriptor. */
export const firstByteMsMax = 30_000;
/** A handshake takes two round trips; a slower client holds a place that others need. */
export const tlsHandshakeMsMax = 10_000;
/**
 * Connections of one port that have sent nothing or are in a handshake; beyond it the oldest is
 * closed.
 */
export const silentConnectionsMax = 1_024;
/** A key, its certificate and those of some issuers have 10 KB. */
export const tlsBundleBytesMax = 256 * 1024;
/** A replaced bundle is in use within this time. */
export const tlsBundlePollMs = 1_000;
/** Host names of a server: every request is compared with the domains of all of them. */
export const allowedHostsMax = 64;
/** Addresses that a server without any ring calls back, because their hellos name them. */
export const unknownPeersMax = 16;
/** Addresses remembered as having made a directory refill: with more it would refill all day. */
export const believedPeersMax = 1_024;
/** Minimum interval at which a server is asked about claims that others make in its name. */
export const askBackMs = 2_000;
/**
 * How far a reported age of a data directory may be ahead of the known one: a hundred years of
 * peerGreetMs. No server ever counted further.
 */
export const generationLeadMax = 2 ** 28;
/** A server verifies, stores and activates the largest ring within this time, on a slow disk. */
export const ringActivationMsMax = 60_000;
/** Time for a member that lacks a ring to fetch it; then a member that greets it sends it. */
export const ringRelayCooldownMs = 1_000;
/** A ring that a member refused is sent again after this time: it may trust more by then. */
export const ringRelayAgainMs = 600_000;
/** Rings fetched from peers at the same time; further ones wait. */
export const ringFetchesMax = 4;
/** Bytes of all of them, from the first chunk until the ring is active; the same as for uploads. */
export const ringFetchesBytesMax = ringUploadsBytesMax;

assert(ringUploadsBytesMax > ringFileBytesMax, 'the largest ring can arrive beside others');
assert(
  wireConnectionsMax < httpConnectionsMax,
  'plain requests pass when peers take all of theirs',
);
/**
 * Moves of later waves that a version remembers, at some 20 bytes each, in every copy of its file:
 * sixteen waves of the largest size. Moves beyond it need another commit.
 */
export const laterMovesMax = 2 ** 20;
/**
 * Steps in which the size of a partition is recorded: a thousandth of the largest one is precise
 * enough.
 */
export const sizeLevelMax = 1_000;
/** Partitions whose sizes a ring may record: 4 MB in each version, at four characters each. */
export const measuredPartitionsMax = 2 ** 20;
/** Moves that one version may make only to even out bytes: each is searched for on its own. */
export const swapBudgetMax = 1_000;
/**
 * Pairs of a slot and a device that the search for even bytes examines in a plan: some three
 * seconds. A larger ring is left as even as it is by then.
 */
export const byteLooksMax = 20_000_000;
