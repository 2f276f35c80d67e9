// Limits of the project, each with its unit, its value and its reason: here and in limits-*.ts. A
// limit is checked before memory is taken.
import { assert } from './assert.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

// --- rings -----------------------------------------------------------------
/** 2^24: a table of 3 rows then takes 100 MB, the most a builder should hold. */
export const partitionPowerMax = 24;
export const partitionCountMax = 2 ** partitionPowerMax;
/** Erasure codes of today use up to 20 fragments; 32 leaves room. */
export const replicaCountMax = 32;
/** Dynamo and Cassandra took up to 256 tokens a node. */
export const tokensPerDeviceMax = 1_024;
/** Of `--hash-key`: tenants are told apart by a character or two; longer ones are mistakes. */
export const hashDelimiterBytesMax = 16;
/** Ten times the largest known cluster of this kind. Holes count: ids are indexes. */
export const deviceCountMax = 100_000;
/** Weights may be bytes of disks: whole numbers up to here are exact. Only quotients count. */
export const deviceWeightMax = 2 ** 53;
/** A byte, of a disk counted in yobibytes: far smaller ones leave no digits. 0 is a weight too. */
export const deviceWeightMin = 2 ** -80;
/** Moves listed per version (one wave); 28 bytes each, 1.8 MB. */
export const movesInFlightMax = 2 ** 16;
/** Regions and zones are small integers, as in Swift. */
export const tierNumberMax = 2 ** 31 - 1;
/** Operators keep serial numbers and notes there; the devices section caps all of them together. */
export const deviceMetaCharactersMax = 8_192;
export const deviceNameCharactersMax = 128;
/** RFC 1123, with the dot of the root. */
export const hostCharactersMax = 254;
/** Fields of other systems kept with a device, as JSON: 100,000 devices x 512 fit the section. */
export const deviceExtraBytesMax = 512;
/** Table of 2^24 x 32 replicas does not fit: the file cap bounds the product of the caps. */
export const ringFileBytesMax = 512 * MIB;
export const ringManifestBytesMax = 64 * KIB;
export const ringDevicesSectionBytesMax = 64 * MIB;
/**
 * Sections of a ring file: nine of our own and some of other programs; their list fits the
 * manifest.
 */
export const ringSectionCountMax = 64;
/** Two operators and a build machine sign a ring, with room for keys being replaced. */
export const ringSignatureCountMax = 16;
export const ringEnvelopeBytesMax = 8 * KIB;
/** What a delta between two ring files unpacks to; beyond it the whole file travels. */
export const ringDeltaBytesMax = 32 * MIB;
/**
 * The change guard: a version that moves a larger share of the slots, ordinary joins and drains
 * left out, needs a second signature or an override. 5 % of a cluster can be copied back in a
 * night.
 */
export const guardMovedShareMax = 0.05;
/** A reason is a sentence, and travels in every copy of the manifest. */
export const overrideCharactersMax = 512;
/** A name and a machine; it stands in every line of the log. */
export const authorCharactersMax = 128;
/** Keys of a whole team with spares; 200 bytes each, so that a root stays below its cap. */
export const trustKeysMax = 32;
export const trustRootBytesMax = 16 * KIB;
/** A rotation every week for two years; servers walk them one by one, at 0.1 ms a signature. */
export const trustRootsMax = 128;
/** The whole chain of roots travels in one message of the wire. */
export const trustFileBytesMax = 256 * KIB;
/** Raised only after a compromise; far below where a number would lose a unit. */
export const trustEpochMax = 2 ** 31 - 1;
/** A root that nobody renews for longer than two years is nobody's. */
export const trustLifeDaysMax = 731;
/** Renewing needs people with offline keys to meet: two weeks of warning. */
export const trustWarnDays = 14;
/** A beacon proves that the pusher was alive a moment ago; a day covers a pusher's holiday. */
export const beaconLifeMsMax = 24 * 3_600_000;
export const beaconBytesMax = 8 * KIB;
/** Below this a passphrase is guessed in hours at the speed PKCS8's key derivation allows. */
export const passphraseCharactersMin = 8;
/** An encrypted ed25519 key takes 300 bytes. */
export const keyFileBytesMax = 4 * KIB;
/** Findings an audit lists of one kind: one broken row must not bury the other kinds. */
export const findingsPerKindMax = 20;
export const minPartHoursMax = 8_760;
/** Pins are looked after by hand, and are in every ring file. */
export const pinCountMax = 4_096;
export const overloadMax = 10;

// --- repositories -----------------------------------------------------------
/** builder.json, log.jsonl and the like are read as one text: V8 holds no longer one. */
export const textFileBytesMax = 2 ** 29 - 24;
/** A list of devices or a scenario as operators write it: 100,000 devices with long meta. */
export const operatorFileBytesMax = 64 * MIB;
/** A ring as JSON: a table of 2^24 slots x 3 with ids of four digits. */
export const importJsonBytesMax = 256 * MIB;
/** A commit holds the lock for some 10 ms; whoever waits longer than this is told who holds it. */
export const lockWaitMsMax = 1_000;
/** Short against a commit, long against listing a folder. */
export const lockPollMs = 20;

// --- files of other systems ---------------------------------------------------
/** What a gzipped Swift ring may inflate to: 2^24 partitions x 7 replicas. Bombs end here. */
export const swiftPayloadBytesMax = 256 * MIB;
/** Memory for the values of a pickle, as estimated: a row of 2^24 slots and 100,000 devices. */
export const pickleMemoryBytesMax = 512 * MIB;
/** Python appends and sets in batches of 1,000 and nests no deeper than a dozen. */
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
/** Keys that are only looked up: /account/container/object of Swift, with room for its settings. */
export const lookupKeyBytesMax = 8_192;
export const valueBytesMax = 1 * MIB;
/**
 * A write stamped further ahead of this clock is refused: one wrong clock must not win for ever.
 */
export const clockAheadMsMax = 60_000;
/** Clocks this close count as equal: what another one shows is as old as its way took. */
export const clockAgreesMs = 1_000;
/** A hundred years: whoever means longer means for ever. */
export const ttlMsMax = 100 * 366 * 24 * 3_600_000;
/** Rounds about one key that others overtake, with growing pauses: about a second altogether. */
export const roundTriesMax = 24;
/** A round has its turn at a device for so long: then its coordinator is gone, or somebody slow. */
export const roundPatienceMs = 50;
/** The device that gives the turns is waited for: some rounds of others, or a sync or two. */
export const roundTurnMs = 100;
/** The longest pause between two rounds: ten times what one takes. */
export const roundPauseMsMax = 50;
/**
 * Stamps are covered on disk this far ahead: under load one small write in half of it, and a crash
 * moves the next life's stamps by no more.
 */
export const stampsReservedMs = 4_000;

// --- servers ---------------------------------------------------------------
/**
 * One chunk of a copied file or pushed ring: small enough not to delay a read by more than ~1 ms.
 */
export const transferChunkBytesMax = 256 * KIB;
/** One WebSocket message: a batch of records or one chunk, with its envelope. */
export const socketMessageBytesMax = 4 * MIB;
/** Unsent bytes to one peer; beyond it calls of that peer, and to it, are refused at once. */
export const peerQueueBytesMax = 16 * MIB;
/** A read is tried again for so long while that queue is full: a slow network empties it in a fifth. */
export const crowdedMsMax = 2_000;
/**
 * A call to a peer without an answer by then counts as failed: above any fsync of a working disk.
 */
export const peerCallTimeoutMs = 5_000;
/** A read that waits this long asks the remaining replicas too (hedge): about ten healthy reads. */
export const readHedgeMs = 30;
/** First and last pause between attempts to reach a peer. */
export const peerRetryMsMin = 100;
export const peerRetryMsMax = 3_000;
/** Holders of a partition compare digests this often while they differ. */
export const replicationIntervalMs = 1_000;
/** Records younger than this are not offered: their own writes are still on the way. */
export const replicationAgeMsMin = 1_000;
/** Records are summed up by seconds of their stamps, and so many of those are compared. */
export const recentSpanMs = 1_000;
export const recentSpansMax = 8;
/** More damaged files than this have one cause: replacing them all could be the wrong cure. */
export const damagedPercentMax = 5;
/** How often equal lines of the log are counted: soon at first, then each 10 minutes. */
export const repeatedLineMsMin = 10_000;
export const repeatedLineMsMax = 600_000;
/** Different lines that are watched for repeats, 1 KB each. */
export const repeatedLinesMax = 1_000;
/** Ring versions kept on a server's disk, newest last: the last good ones. */
export const ringVersionsKept = 5;
/**
 * A version further ahead of the active one is refused: a stray or hostile ring, not a missed push.
 */
export const ringVersionJumpMax = 1_000;
/** How often a server looks for changed ring files on disk. */
export const ringFilePollMs = 1_000;
/** A member of etcd that answers later is passed over for the next one. */
export const etcdCallMs = 2_000;
/** Pause before watching etcd again: a failed member is followed by another within a second. */
export const etcdRetryMs = 250;
/** A watch is begun anew after this time: a connection whose other end vanished says nothing. */
export const etcdWatchMs = 60_000;
/** A file that opens the head store: the authorities a whole system trusts take 220 KB. */
export const accessFileBytesMax = 1 * MIB;
/** A ring is stored by so many ring stores at most; a majority of them is waited for. */
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
/** All words of one request, which are held until it is whole; more end the connection. */
export const redisRequestBytesMax = 16 * MIB;
/** A request typed by hand, as in Redis. */
export const redisInlineBytesMax = 64 * KIB;
/** Requests of one connection under way at once; further ones wait unread. Eight times -P 16. */
export const redisPipelineMax = 128;
/**
 * Bytes of answers that wait for a slow reader; beyond it nothing new of that connection starts.
 */
export const redisOutputBytesMax = 1 * MIB;
/** Values in one answer (MGET); they are in memory at once. */
export const redisAnswerBytesMax = 32 * MIB;
/** Keys of one MGET or MSET that are under way at once. */
export const redisKeysAtOnce = 128;
export const redisConnectionsMax = 1_000;
/**
 * Patterns of one request together: as long as the longest key. Compiled, one takes at most 33 KiB.
 */
export const patternBytesMax = keyBytesMax;
/** SCAN: keys of one answer, whatever COUNT says. */
export const redisScanCountMax = 10_000;
/** SCAN: places inside partitions that are remembered; without one all of a partition is given. */
export const redisCursorsMax = 1_024;
export const redisClientNameCharactersMax = 128;

// --- HTTP ----------------------------------------------------------------------
/** Newest records that `ring-server inspect` shows of a partition: a screen. */
export const inspectedRecordsMax = 20;
/** Items of one batch: their frames to a device fit its queue. */
export const httpBatchItemsMax = 1_000;
/**
 * Commas and opening brackets of a batch outside its strings: an item has at most five fields. The
 * objects of 8 MiB of `{},` took half a second of one turn, and 400 MB.
 */
export const httpBatchMarksMax = 8 * httpBatchItemsMax;
/** Body of a batch, base64 included. */
export const httpBatchBytesMax = 8 * MIB;
/** Values in the answer to a batch; gets beyond it are answered with BATCH_TOO_LARGE. */
export const httpBatchAnswerBytesMax = 8 * MIB;
/** Items of one batch under way at once. */
export const httpBatchItemsAtOnce = 128;

// --- clients -------------------------------------------------------------------
/** A client's read that waits this long asks a second server: ten times a server's own hedge. */
export const clientHedgeMs = 150;
/** A put that waits longer for its turn is one that callers take for lost. EventQL's window. */
export const clientSmearMsMax = 120_000;
/** Servers a client tries for one operation before it gives up. */
export const clientTriesMax = 4;
/**
 * A client waits as long as a coordinator waits for its peers, who may be asked for a read, for it
 * anew, and to take what it shows: it hears what was wrong.
 */
export const clientCallTimeoutMs = 3 * peerCallTimeoutMs;
/** Items of one getMany or putMany under way at once; further ones wait in the client. */
export const clientItemsAtOnce = 256;
/** A server that was slow or away is asked last for so long. */
export const clientAvoidMs = 1_000;

// --- listing ---------------------------------------------------------------------
/** Keys of one page between servers. */
export const listKeysMax = 1_000;
/** Keys and values of a page, which is read in one turn: about 1 ms. */
export const listTurnBytesMax = 1 * MIB;
/** A page ends with the record that goes beyond listTurnBytesMax. */
export const scanPageBytesMax = listTurnBytesMax + valueBytesMax + listKeysMax * 64 + keyBytesMax;
/** Pages that a scan of the client package has asked for, or keeps, at once: 16 MiB at most. */
export const clientPagesAhead = 16;
/** Those of one partition: they are asked for one after the other. */
export const clientPagesOfPartition = 4;
/** A page of a busy server takes as long as many reads. */
export const clientScanHedgeMs = 1_000;
/** Keys of one page whose holders differ that are read at once. */
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

/** Requests a second, at all holders together, below which nobody splits a partition for them. */
export const busyRateMin = 1_000;

/** Splits and merges that are proposed for one version: people look at each. */
export const splitsProposedMax = 16;

/**
 * Records that are drawn to find the middle of a partition: it is off by more than 5 % of them once
 * in a thousand times. A thousand take about 30 ms, in turns of 64.
 */
export const middleSampleRows = 1_024;
export const middleTurnRows = 64;
