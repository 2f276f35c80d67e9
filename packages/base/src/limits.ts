// Limits of the project, each with its unit, value and reason: here and in limits-*.ts. A limit is
// checked before memory is taken.
import { assert } from './assert.ts';

export const KIB = 1024;
export const MIB = 1024 * KIB;

// --- rings -----------------------------------------------------------------
/** 2^24: a table of 3 rows then takes 100 MB, the most a builder should hold. */
export const partitionPowerMax = 24;
export const partitionCountMax = 2 ** partitionPowerMax;
/** Erasure codes of today use up to 20 fragments; 32 leaves room. */
export const replicaCountMax = 32;
/** Dynamo and Cassandra used up to 256 tokens per node. */
export const tokensPerDeviceMax = 1_024;
/** For `--hash-key`: tenants are told apart by a character or two; longer values are mistakes. */
export const hashDelimiterBytesMax = 16;
/** Ten times the largest known cluster of this kind. Holes count: ids are indexes. */
export const deviceCountMax = 100_000;
/** Weights may be bytes of disks: whole numbers up to here are exact. Only ratios matter. */
export const deviceWeightMax = 2 ** 53;
/** One byte of a disk counted in yobibytes: far smaller ones leave no digits. 0 is valid too. */
export const deviceWeightMin = 2 ** -80;
/** Moves listed per version (one wave); 28 bytes each, 1.8 MB. */
export const movesInFlightMax = 2 ** 16;
/** Regions and zones are small integers, as in Swift. */
export const tierNumberMax = 2 ** 31 - 1;
/** For operators' serial numbers and notes; the devices section limits all of them together. */
export const deviceMetaCharactersMax = 8_192;
export const deviceNameCharactersMax = 128;
/** RFC 1123, plus the dot of the root. */
export const hostCharactersMax = 254;
/** Fields of other systems kept with a device, as JSON: 100,000 devices x 512 fit the section. */
export const deviceExtraBytesMax = 512;
/** A table of 2^24 x 32 replicas does not fit: the file cap bounds the product of the caps. */
export const ringFileBytesMax = 512 * MIB;
export const ringManifestBytesMax = 64 * KIB;
export const ringDevicesSectionBytesMax = 64 * MIB;
/** Sections of a ring file: nine of ours, some of other programs; the manifest lists them all. */
export const ringSectionCountMax = 64;
/** Two operators and a build machine sign a ring, with room for keys being replaced. */
export const ringSignatureCountMax = 16;
export const ringEnvelopeBytesMax = 8 * KIB;
/** Unpacked size of a delta between two ring files; beyond it the whole file is sent. */
export const ringDeltaBytesMax = 32 * MIB;
/**
 * The change guard: a version that moves a larger share of the slots, apart from ordinary joins and
 * drains, needs a second signature or an override. 5 % of a cluster can be copied back in a night.
 */
export const guardMovedShareMax = 0.05;
/** A reason is a sentence, and travels in every copy of the manifest. */
export const overrideCharactersMax = 512;
/** A name and a machine; every line of the log contains it. */
export const authorCharactersMax = 128;
/** Keys of a whole team with spares; 200 bytes each, so that a root stays below its cap. */
export const trustKeysMax = 32;
export const trustRootBytesMax = 16 * KIB;
/** A rotation every week for two years; servers verify each, at 0.1 ms per signature. */
export const trustRootsMax = 128;
/** The whole chain of roots travels in one message of the wire. */
export const trustFileBytesMax = 256 * KIB;
/** Raised only after a compromise; far below where a number would lose a unit. */
export const trustEpochMax = 2 ** 31 - 1;
/** A root that nobody renews for more than two years is abandoned. */
export const trustLifeDaysMax = 731;
/** Renewal needs people with offline keys to meet: two weeks of warning. */
export const trustWarnDays = 14;
/** A beacon proves that the pusher was alive recently; a day covers a pusher's holiday. */
export const beaconLifeMsMax = 24 * 3_600_000;
export const beaconBytesMax = 8 * KIB;
/** A shorter passphrase is guessed in hours at the speed PKCS8's key derivation allows. */
export const passphraseCharactersMin = 8;
/** An encrypted ed25519 key takes 300 bytes. */
export const keyFileBytesMax = 4 * KIB;
/** Findings of one kind that an audit lists: one broken row must not hide the other kinds. */
export const findingsPerKindMax = 20;
export const minPartHoursMax = 8_760;
/** Pins are maintained by hand, and are in every ring file. */
export const pinCountMax = 4_096;
export const overloadMax = 10;

/** An answer over HTTP to the tool: the status of a device with a million partitions. */
export const httpAnswerBytesMax = 256 * MIB;
/** Depth of JSON from outside. Ours has less than half of this. */
export const jsonDepthMax = 64;

// --- repositories -----------------------------------------------------------
/** builder.json, log.jsonl and the like are read as one string: V8's longest. */
export const textFileBytesMax = 2 ** 29 - 24;
/** A list of devices or a scenario as operators write it: 100,000 devices with long meta. */
export const operatorFileBytesMax = 64 * MIB;
/** A ring as JSON: a table of 2^24 slots x 3 with ids of four digits. */
export const importJsonBytesMax = 256 * MIB;
/** A commit holds the lock for some 10 ms; after this wait the caller is told who holds it. */
export const lockWaitMsMax = 1_000;
/** Short against a commit, long against listing a folder. */
export const lockPollMs = 20;

// --- files of other systems ---------------------------------------------------
/** Unpacked size of a gzipped Swift ring: 2^24 partitions x 7 replicas. Stops zip bombs. */
export const swiftPayloadBytesMax = 256 * MIB;
/** Memory for the values of a pickle, estimated: a row of 2^24 slots and 100,000 devices. */
export const pickleMemoryBytesMax = 512 * MIB;
/** Python appends and sets in batches of 1,000 and nests at most a dozen levels. */
export const pickleStackMax = 2 ** 14;
/** All devices of a Swift file as JSON: 100,000 of 500 bytes, with room for long meta. */
export const foreignDevicesBytesMax = 128 * MIB;
/** One device of a pickle as plain values, roughly: a hundred times what Swift writes. */
export const foreignDeviceBytesMax = 64 * KIB;
/** Depth of a value inside a device: Swift's own are flat. */
export const foreignValueDepthMax = 8;

// --- records ---------------------------------------------------------------
/** Keys are kept in an index page of SQLite; longer keys overflow it. */
export const keyBytesMax = 1_024;
/** Keys for lookups only: /account/container/object of Swift, with room for its settings. */
export const lookupKeyBytesMax = 8_192;
export const valueBytesMax = 1 * MIB;
/** A write stamped further ahead of this clock is refused: a wrong clock must not win for ever. */
export const clockAheadMsMax = 60_000;
/** Clocks this close count as equal: a reading of another clock is as old as its network trip. */
export const clockAgreesMs = 1_000;
/** A hundred years: anybody who wants more means "for ever". */
export const ttlMsMax = 100 * 366 * 24 * 3_600_000;
/** Attempts at a round for one contended key, with growing pauses: about a second in total. */
export const roundTriesMax = 24;
/** How long a round keeps its turn at a device: after that its coordinator is gone or slow. */
export const roundPatienceMs = 50;
/** How long to wait for the device that grants the turns: some other rounds, or a sync or two. */
export const roundTurnMs = 100;
/** The longest pause between two rounds: ten times the duration of one. */
export const roundPauseMsMax = 50;
/**
 * How far ahead stamps are reserved on disk: under load one small write per half of it, and after a
 * crash stamps jump by no more than this.
 */
export const stampsReservedMs = 4_000;

// --- servers ---------------------------------------------------------------
/** One chunk of a copied file or pushed ring: small enough to delay a read by only ~1 ms. */
export const transferChunkBytesMax = 256 * KIB;
/** One WebSocket message: a batch of records or one chunk, with its envelope. */
export const socketMessageBytesMax = 4 * MIB;
/** Unsent bytes to one peer; beyond it calls from and to that peer are refused at once. */
export const peerQueueBytesMax = 16 * MIB;
/** How long a read is retried while that queue is full: a slow network drains it in a fifth. */
export const crowdedMsMax = 2_000;
/** Timeout of a call to a peer: above any fsync of a working disk. */
export const peerCallTimeoutMs = 5_000;
/** A read that takes longer also asks the remaining replicas (hedge): about ten healthy reads. */
export const readHedgeMs = 30;
/** First and last pause between attempts to reach a peer. */
export const peerRetryMsMin = 100;
export const peerRetryMsMax = 3_000;
/** While their digests differ, holders of a partition compare them this often. */
export const replicationIntervalMs = 1_000;
/** Rings compared at the same time: a peer that missed millions of records takes one for minutes. */
export const replicationRingsAtOnce = 8;
/** Records younger than this are not offered: their own writes are still in flight. */
export const replicationAgeMsMin = 1_000;
/** Span of stamps whose records are summed together, and the number of spans compared. */
export const recentSpanMs = 1_000;
export const recentSpansMax = 8;
/** More damaged files than this have one cause, and replacing them all could be the wrong cure. */
export const damagedPercentMax = 5;
/** How often repeats of a log line are counted: soon at first, then every 10 minutes. */
export const repeatedLineMsMin = 10_000;
export const repeatedLineMsMax = 600_000;
/** Different lines that are watched for repeats, 1 KB each. */
export const repeatedLinesMax = 1_000;
/** Ring versions kept on a server's disk, newest last: the last good ones. */
export const ringVersionsKept = 5;
/**
 * A version further ahead of the active one is refused: it comes from a stray or hostile ring, and
 * not from a missed push.
 */
export const ringVersionJumpMax = 1_000;
/** How often a server looks for changed ring files on disk. */
export const ringFilePollMs = 1_000;
/** Timeout of a call to a member of etcd; after it the next member is asked. */
export const etcdCallMs = 2_000;
/** Pause before watching etcd again: a failed member is replaced within a second. */
export const etcdRetryMs = 250;
/** A watch is renewed after this time: a connection whose other end vanished stays silent. */
export const etcdWatchMs = 60_000;
/** A file for access to the head store: the CA certificates of a whole system take 220 KB. */
export const accessFileBytesMax = 1 * MIB;
/** Ring stores that store a ring; a commit waits for a majority of them. */
export const ringStoresMax = 15;
/** A request follows rings that change under it this many times before it gives up. */
export const ringRetriesMax = 4;

assert(ringSignatureCountMax * 256 <= ringEnvelopeBytesMax, 'the signatures fit the envelope');
assert(trustKeysMax * 400 <= trustRootBytesMax, 'the keys fit a root');
assert(trustFileBytesMax <= transferChunkBytesMax, 'a trust file fits one field of the wire');
assert(ringSectionCountMax * 256 <= ringManifestBytesMax, 'the sections fit the manifest');

// --- Redis protocol ----------------------------------------------------------
/** Words of one request: an MSET of 8,000 keys. Redis takes a million. */
export const redisArgumentsMax = 16_384;
/** All words of one request, held until it is complete; more end the connection. */
export const redisRequestBytesMax = 16 * MIB;
/** A request typed by hand, as in Redis. */
export const redisInlineBytesMax = 64 * KIB;
/** Requests of one connection in flight at once; more wait unread. Eight times -P 16. */
export const redisPipelineMax = 128;
/** Answers that wait for a slow reader; beyond it the connection starts no new request. */
export const redisOutputBytesMax = 1 * MIB;
/** Values in one answer (MGET); they are in memory at once. */
export const redisAnswerBytesMax = 32 * MIB;
/** Keys of one MGET or MSET that are in flight at once. */
export const redisKeysAtOnce = 128;
export const redisConnectionsMax = 1_000;
/** Patterns of one request together: the longest key. Compiled, one takes at most 33 KiB. */
export const patternBytesMax = keyBytesMax;
/** SCAN: keys per answer, whatever COUNT says. */
export const redisScanCountMax = 10_000;
/** SCAN: remembered positions inside partitions; without one the whole partition is returned. */
export const redisCursorsMax = 1_024;
export const redisClientNameCharactersMax = 128;

// --- HTTP ----------------------------------------------------------------------
/** Newest records that `ring-server inspect` shows of a partition: a screen. */
export const inspectedRecordsMax = 20;
/** Items of one batch: their frames to a device fit its queue. */
export const httpBatchItemsMax = 1_000;
/**
 * Commas and opening brackets of a batch outside its strings: an item has at most five fields.
 * Decoding 8 MiB of `{},` took half a second of one turn, and 400 MB.
 */
export const httpBatchMarksMax = 8 * httpBatchItemsMax;
/** Body of a batch, base64 included. */
export const httpBatchBytesMax = 8 * MIB;
/** Values in the answer to a batch; gets beyond it are answered with BATCH_TOO_LARGE. */
export const httpBatchAnswerBytesMax = 8 * MIB;
/** Items of one batch in flight at once. */
export const httpBatchItemsAtOnce = 128;

// --- clients -------------------------------------------------------------------
/** A client's read that takes longer asks a second server: ten times a server's own hedge. */
export const clientHedgeMs = 150;
/** A put that waits longer for its turn looks lost to its caller. EventQL's window. */
export const clientSmearMsMax = 120_000;
/** Servers a client tries for one operation before it gives up. */
export const clientTriesMax = 4;
/**
 * A client waits long enough for a coordinator that may ask its peers for a read, ask again, and
 * write the result back: so the client gets the coordinator's error.
 */
export const clientCallTimeoutMs = 3 * peerCallTimeoutMs;
/** Items of one getMany or putMany in flight at once; further ones wait in the client. */
export const clientItemsAtOnce = 256;
/** How long a server that was slow or away is asked last. */
export const clientAvoidMs = 1_000;

// --- listing ---------------------------------------------------------------------
/** Keys of one page between servers. */
export const listKeysMax = 1_000;
/** Keys and values of a page, which is read in one turn: about 1 ms. */
export const listTurnBytesMax = 1 * MIB;
/** A page ends with the record that goes beyond listTurnBytesMax. */
export const scanPageBytesMax = listTurnBytesMax + valueBytesMax + listKeysMax * 64 + keyBytesMax;
/** Pages that a client's scan has requested, or keeps, at once: 16 MiB at most. */
export const clientPagesAhead = 16;
/** Of these, pages of one partition, which are requested one after the other. */
export const clientPagesOfPartition = 4;
/** A page of a busy server takes as long as many reads. */
export const clientScanHedgeMs = 1_000;
/** Keys of one page that are read at once because their holders differ. */
export const differingKeysAtOnce = 32;

assert(redisRequestBytesMax > valueBytesMax, 'the largest value fits a request');
assert(scanPageBytesMax + 64 * KIB <= socketMessageBytesMax, 'a page of records fits a message');
assert(listKeysMax * (keyBytesMax + 32) <= socketMessageBytesMax, 'a page of keys fits a message');
assert(transferChunkBytesMax * 2 <= socketMessageBytesMax, 'a chunk fits a message');
assert(valueBytesMax + keyBytesMax + 64 * KIB <= socketMessageBytesMax, 'a record fits a message');
assert(socketMessageBytesMax <= peerQueueBytesMax, 'a message fits the queue');
assert(partitionCountMax * 3 * 2 <= ringFileBytesMax, 'the largest usual ring fits the file cap');

/** Parts into which one command splits a partition: each is a file on every replica. */
export const splitPartsMax = 256;

/** Requests per second, at all holders together, below which load is no reason for a split. */
export const busyRateMin = 1_000;

/** Splits and merges proposed for one version: people review each. */
export const splitsProposedMax = 16;

/**
 * Records sampled to find the middle of a partition: the result is off by more than 5 % of the
 * records once in a thousand times. A thousand take about 30 ms, in turns of 64.
 */
export const middleSampleRows = 1_024;
export const middleTurnRows = 64;
