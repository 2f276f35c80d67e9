// Limits of moves, and of whole partition files on their way: each with unit, value and reason.
import { assert } from './assert.ts';
import { socketMessageBytesMax } from './limits.ts';

// --- how many at once ----------------------------------------------------------
/** Partitions that one device takes: a small file waits for the disk for most of its time. */
export const copiesInMax = 24;
/** Of them from the devices of one server (ip), so that joiners spread over their sources. */
export const copiesFromServerMax = 16;
/** Of them from one zone: a link between two zones carries more than this change. */
export const copiesFromZoneMax = 20;
/** Snapshots that one device holds open for others: each is a staged file on its disk. */
export const copiesOutMax = 32;
/** Of them for the devices of one server, so that no joiner with many devices has them all. */
export const copiesToServerMax = 16;
/** Of them for one zone: the others get their turn while a whole zone is filled. */
export const copiesToZoneMax = 24;
/**
 * Partition files given up at the same time per device: each waits on its peers, not on this disk.
 */
export const drainsMax = 32;
/** Of them where requests hold loads back: what ends in one turn delays them. */
export const drainsHeldBackMax = 16;
/**
 * Where requests hold loads back, so many are given up for each load that may run: they wait for
 * peers and disk for most of their time, and move no bytes.
 */
export const drainsPerLoad = 4;
/** Empty files created together: their syncs wait for the disk side by side. */
export const filesCreatedAtOnce = 8;

// --- one copy ------------------------------------------------------------------
/** Taking a snapshot of the largest partition file may take this long. */
export const copyOpenTimeoutMs = 600_000;
/** Files that wait for the process that copies, or audits, whole files of a store. */
export const sideJobsMax = 64;
/** To start such a process takes ~100 ms, to keep it ~45 MB: kept between the copies of one join. */
export const sideProcessIdleMsMax = 10_000;
/**
 * Checkpoints wait for such a copy until the WAL is half as long (PartitionWal.exceeds); then it
 * is taken in the other way, or once more. To move 16 MiB takes ~80 ms of one turn.
 */
export const heldWalBytesMax = 16 * 1024 * 1024;
/** What is copied while checkpoints wait, where it is copied for this device: 0.1 s on a busy disk. */
export const copyHeldBytesMax = 32 * 1024 * 1024;
/**
 * So often what checkpoints wrote meanwhile is copied again. Each round has less to copy, unless
 * the disk is slower than those who write.
 */
export const copyRoundsMax = 16;
/** Snapshots taken at once: the rate of copies does not slow down how a disk copies to itself. */
export const snapshotsAtOnceMax = 2;
/** A snapshot nobody has read from for this long is released. */
export const copyIdleMsMax = 60_000;
/** Chunks asked for ahead of the one being written: hides the round trip, and a pause of an end. */
export const copyChunksAhead = 8;
/** Of a copy, in one go: for a MiB the kernel looks for memory in one piece, ten times as long. */
export const copyWriteBytes = 256 * 1024;
/** What came of a copy is synced in pieces of this while the rest comes: no long wait at its end. */
export const copySyncBytes = 64 * 1024 * 1024;
/** Read by the source's process at once: fewer turns of its event loop than pieces of 256 KiB. */
export const copyPieceBytes = 1024 * 1024;
/** How often a process says how far a copy is: then one that an operator stops ends. */
export const copyReportMs = 250;
/** To connect to the process of a source: a machine that drops what comes must not be waited for. */
export const copyConnectMsMax = 5_000;
/** For a port that another process has: the one of a server that was killed ends within this. */
export const copyListenMsMax = 5_000;
/** Whoever connects brings a ticket by then. */
export const copyGreetMsMax = 5_000;
/** Connections to the process of a source that have brought no ticket yet: the oldest one goes. */
export const copyGreetingsMax = 32;
/**
 * A partition with no more records and bytes travels packed into one message. 16 records of 1 KiB
 * then cost about half of the processor that their file costs. With 256 of them files are faster.
 */
export const smallPartitionRowsMax = 128;
export const smallPartitionBytesMax = 128 * 1024;
/** What a record takes beside its key and its value: stamps, flags and lengths. */
const packedRecordBytesMax = 64;
export const packedPartitionBytesMax =
  smallPartitionBytesMax + smallPartitionRowsMax * packedRecordBytesMax;
/** Of the file that is made of them: each page may be half full. */
export const unpackedFileBytesMax = 2 * packedPartitionBytesMax + 64 * 1024;
/** A connection on which nothing comes or leaves for so long is broken; it is made again. */
export const copySilenceMsMax = 20_000;
/** So long a file is read where it lies. Then it is copied first: its checkpoints hold up the log. */
export const copyHoldMsMax = 10_000;
/** How often it is looked at whether a checkpoint must wait no longer. */
export const copyHoldLookMs = 250;
/** Of a copy that is audited, read as memory: the most that SQLite maps. */
export const auditMappedBytes = 2 ** 31 - 64 * 1024;
/**
 * Of long messages received, until what the socket read of them, 64 KiB at a time, is collected. V8
 * counts its few objects when it decides to collect the young, which takes a millisecond, and its
 * bytes when it decides to mark the whole heap: that took half of the time of a copied file.
 */
export const minorGcBytesMax = 16 * 1024 * 1024;

// --- failures ------------------------------------------------------------------
/** Bad copies of the device replaced before the other slots are asked: memory and lines err. */
export const copySourceFaultsMax = 3;
/** Pause before what failed is tried again; it doubles for loads. */
export const dutyRetryMs = 500;
/** The first of a drain, doubled up to dutyRetryMs: joiners take over some ms after a ring names them. */
export const drainRetryMsMin = 50;
/** Longest pause of a load: short against copying a file, long against asking for one. */
export const dutyRetryMsMax = 4_000;
/** A step that failed is told for as long: the longest pause, and what the next try may take. */
export const failureTellingMs = 2 * dutyRetryMsMax;

// --- speed ---------------------------------------------------------------------
/** The slowest that an operator may ask for: a chunk per second, far from any timeout. */
export const copyRateMin = 256 * 1024;
/**
 * A rate that a rollout lends ends so long after it was last said: soon after the rollout was
 * killed, and not when two of its words were lost.
 */
export const copyLoanMs = 30_000;
/** How often a rollout says it again: until then a server that was started anew has its own rate. */
export const copyLoanRenewMs = 3_000;
/** Rollouts that lend one server a rate at the same time: one for each ring, and its re-runs. */
export const copyLoansMax = 64;
/** Backing off goes no lower: a cluster that is always busy gets a copy of 1 GiB in 4 minutes. */
export const copyRateFloor = 4 * 1024 * 1024;
/** A rate that has recovered to this holds nothing back any more. */
export const copyRateFree = 1024 * 1024 * 1024;
/** How often it is judged whether requests suffer. */
export const throttleRoundMs = 1_000;
/** Rounds whose requests are judged together: a disk that hiccups once is not busy. */
export const throttleWindowRounds = 3;
/** Rounds after the last copy until requests that waited for copies have been answered. */
export const throttleCalmRounds = 10;
/** Fewer requests in the window than this have no 99th percentile worth acting on. */
export const throttleRequestsMin = 50;
/** Copies slow down when one request in a hundred takes longer: five fsyncs of a busy disk. */
export const foregroundP99MsMax = 25;
/** Taken for what requests need without copies as long as nobody knows: a joiner is never calm. */
export const calmP99MsUnknown = 50;
/** And when the event loop comes later to its work: half of what a turn may take. */
export const loopDelayMsMax = 100;
/**
 * How often the delay is looked at, by the throttle and for the metrics: each look wakes a server
 * that is at rest, of which one machine may have sixty. A delay is seen by up to so much too short.
 */
export const loopDelayResolutionMs = 50;
/** Where one file at a time is too much, a cooldown is as long as the file took: half of the time. */
export const copyCooldownTimesFirst = 1;
/** Where they suffer, at most so many times: a fifth of what one file at a time takes. */
export const copyCooldownTimesMax = 4;
/**
 * No cooldown is longer: the bytes are carried by a process that stands back, so what is left to
 * requests is a few ms for each file. A thousand files are still copied within two minutes.
 */
export const copyCooldownMsMax = 100;
/** The longest a source lets a chunk wait for its rate; then it says when to ask again. */
export const copyReadWaitMsMax = 1_000;
/** A throttle looks again after so long, in case its rate was changed. */
export const throttleTurnMs = 100;

// --- dropping ------------------------------------------------------------------
/**
 * Of a device's partitions that a ring takes away without a move, and that are dropped without a
 * question: an operator's mistake should cost no more.
 */
export const dropsPercentMax = 5;
/** So many always: five per cent of a small cluster are less than one partition. */
export const dropsFreeMax = 8;
/** Dropped partitions stay so long, if the disk has room: a mistake is noticed within days. */
export const trashHoursMax = 168;
/** And as an option no longer than ten years: whoever wants more wants a backup. */
export const trashHoursAllowedMax = 87_600;
/** And take no more of the disk than this. */
export const trashPercentMax = 10;
/** How often what is over the limits goes, and copies that nobody reads are released. */
export const trashTickMs = 10_000;
/** Dropped partitions of one list: 300 bytes each fit a message. */
export const trashListMax = 8_192;

// --- splits and merges ----------------------------------------------------------
/**
 * Of each file that is read or written while children are built: the index of a million keys of 30
 * bytes. With fewer pages a page of the index is written once for each row in it.
 */
export const childCacheBytes = 64 * 1024 * 1024;
/** Of a child that is built, what is synced at once: some 40 ms of the disk, which the log wants too. */
export const childSyncBytes = 16 * 1024 * 1024;
/**
 * So often what came for a child is merged into its built file beside the store: each time less has
 * come meanwhile, unless writes outrun that.
 */
export const mergesAsideMax = 8;
/** Children of one pass whose files are synced and put in place at once. */
export const childrenPlacedAtOnce = 4;

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
