// Limits of moves and of copies of whole partition files: each with unit, value and reason.
import { assert } from './assert.ts';
import { MIB, socketMessageBytesMax } from './limits.ts';

// --- how many at once ----------------------------------------------------------
/**
 * Copies that one device receives at once: a small file spends most of its time waiting for the
 * disk.
 */
export const copiesInMax = 24;
/** Of these, from the devices of one server (ip), so that joiners use many sources. */
export const copiesFromServerMax = 16;
/** Of these, from one zone: the link between two zones carries other traffic too. */
export const copiesFromZoneMax = 20;
/** Snapshots that one device holds open for others: each is a staged file on its disk. */
export const copiesOutMax = 32;
/** Of these, for devices of one server, so that a joiner with many devices does not take all. */
export const copiesToServerMax = 16;
/** Of these, for one zone: the others get their turn while a whole zone is being filled. */
export const copiesToZoneMax = 24;
/**
 * Partition files drained at the same time per device: each drain waits for its peers, not for this
 * disk.
 */
export const drainsMax = 32;
/** The same while requests hold loads back: work that ends in one turn delays them. */
export const drainsHeldBackMax = 16;
/**
 * While requests hold loads back, drains allowed per load that may run: drains mostly wait for
 * peers and disk, and move no bytes.
 */
export const drainsPerLoad = 4;
/** Empty files created together: their syncs wait for the disk side by side. */
export const filesCreatedAtOnce = 8;

// --- one copy ------------------------------------------------------------------
/** Timeout for taking a snapshot of the largest partition file. */
export const copyOpenTimeoutMs = 600_000;
/** Files queued for the helper process that copies, or audits, whole files of a store. */
export const sideJobsMax = 64;
/**
 * Starting such a process takes ~100 ms, keeping it ~45 MB: it is kept between the copies of one
 * join.
 */
export const sideProcessIdleMsMax = 10_000;
/**
 * A helper process that has work and does nothing for this long is killed, and its work fails. No
 * disk in use takes as long for one sync; Linux reports a hung process after the same time.
 */
export const sideProcessStallMsMax = 120_000;
/**
 * Checkpoints wait for a copy by another process until the WAL is half this long
 * (PartitionWal.exceeds). Then the copy is taken in another way, or repeated. Moving 16 MiB takes
 * ~80 ms of one turn.
 */
export const heldWalBytesMax = 16 * MIB;
/** Bytes copied while checkpoints wait, for copies on this device: 0.1 s on a busy disk. */
export const copyHeldBytesMax = 32 * MIB;
/**
 * How many times the pages written by checkpoints are copied again. Each round has less to copy,
 * unless the disk is slower than the writers.
 */
export const copyRoundsMax = 16;
/** Snapshots taken at once: the copy rate does not limit copies from a disk to itself. */
export const snapshotsAtOnceMax = 2;
/** A snapshot that nobody has read from for this long is released. */
export const copyIdleMsMax = 60_000;
/** Chunks requested ahead of the present one: hides the round trip, and a pause at either end. */
export const copyChunksAhead = 8;
/** Bytes of a copy per write: for 1 MiB the kernel seeks contiguous memory, ten times as long. */
export const copyWriteBytes = 256 * 1024;
/** A copy is synced in pieces of this size while the rest arrives: no long wait at its end. */
export const copySyncBytes = 64 * MIB;
/** Bytes the source's carrier reads at once: fewer turns of its event loop than with 256 KiB. */
export const copyPieceBytes = MIB;
/** Interval of a carrier's progress reports; at each one a copy that an operator stopped ends. */
export const copyReportMs = 250;
/**
 * Timeout for connecting to a source's carrier: a machine that drops packets must not be waited
 * for.
 */
export const copyConnectMsMax = 5_000;
/** How long to retry a port in use: the carrier of a server that was killed ends by then. */
export const copyListenMsMax = 5_000;
/** Time for a new connection to present its ticket. */
export const copyGreetMsMax = 5_000;
/** Connections to a carrier that have not presented a ticket; beyond it the oldest is closed. */
export const copyGreetingsMax = 32;
/**
 * A partition within both limits travels packed into one message. 16 records of 1 KiB then cost
 * about half of the CPU that their file costs. With 256 of them files are faster.
 */
export const smallPartitionRowsMax = 128;
export const smallPartitionBytesMax = 128 * 1024;
/** Bytes of a record besides key and value: stamps, flags and lengths. */
const packedRecordBytesMax = 64;
export const packedPartitionBytesMax =
  smallPartitionBytesMax + smallPartitionRowsMax * packedRecordBytesMax;
/** Bytes of the file that is built from them: each page may be half full. */
export const unpackedFileBytesMax = 2 * packedPartitionBytesMax + 64 * 1024;
/** A connection without traffic for this long is considered broken; it is made again. */
export const copySilenceMsMax = 20_000;
/**
 * How long a file is read in place. Then it is copied aside, because held checkpoints keep log
 * segments.
 */
export const copyHoldMsMax = 10_000;
/** How often a hold is checked for a checkpoint that must wait no longer. */
export const copyHoldLookMs = 250;
/** Memory-mapped bytes of a copy that is audited: the most that SQLite maps. */
export const auditMappedBytes = 2 ** 31 - 64 * 1024;
/**
 * Bytes of long received messages before the socket's buffers, 64 KiB each, are collected. V8
 * counts their few objects when it decides on a minor collection, which takes a millisecond, and
 * their bytes when it decides to mark the whole heap: that took half of the time of a copied file.
 */
export const minorGcBytesMax = 16 * MIB;

// --- failures ------------------------------------------------------------------
/** Bad copies from the replaced device before the other slots are asked: memory and lines err. */
export const copySourceFaultsMax = 3;
/** Pause before a failed step is retried; it doubles for loads. */
export const dutyRetryMs = 500;
/**
 * First pause of a drain, doubled up to dutyRetryMs: joiners take over some ms after a ring names
 * them.
 */
export const drainRetryMsMin = 50;
/** Longest pause of a load: short against copying a file, long against asking for one. */
export const dutyRetryMsMax = 4_000;
/** How long a failed step is reported: twice the longest pause, to cover the next attempt. */
export const failureTellingMs = 2 * dutyRetryMsMax;

// --- speed ---------------------------------------------------------------------
/** The lowest rate that an operator may set: a chunk per second, far from any timeout. */
export const copyRateMin = 256 * 1024;
/**
 * A loaned rate ends this long after its last renewal: soon after a rollout was killed, but not
 * when two renewals were lost.
 */
export const copyLoanMs = 30_000;
/** How often a rollout renews its loan: until then a server that was restarted has its own rate. */
export const copyLoanRenewMs = 3_000;
/** Rollouts that lend one server a rate at the same time: one for each ring, and its re-runs. */
export const copyLoansMax = 64;
/** The back-off goes no lower: a cluster that is always busy copies 1 GiB in 4 minutes. */
export const copyRateFloor = 4 * MIB;
/** A rate that has recovered to this no longer limits anything. */
export const copyRateFree = 1024 * MIB;
/** How often the throttle judges whether requests suffer. */
export const throttleRoundMs = 1_000;
/** Rounds whose requests are judged together: one slow moment of a disk is not load. */
export const throttleWindowRounds = 3;
/** Rounds after the last copy until requests that waited for copies have been answered. */
export const throttleCalmRounds = 10;
/** With fewer requests in the window the 99th percentile means nothing. */
export const throttleRequestsMin = 50;
/** Copies slow down when one request in a hundred takes longer: five fsyncs of a busy disk. */
export const foregroundP99MsMax = 25;
/** Assumed request time without copies while none is measured: a joiner never has a calm moment. */
export const calmP99MsUnknown = 50;
/** Copies also slow down when the event loop is later than this: half of what a turn may take. */
export const loopDelayMsMax = 100;
/**
 * How often the event loop delay is sampled, by the throttle and for the metrics. Each sample wakes
 * an idle server, and one machine may run sixty. A measured delay is too short by up to this.
 */
export const loopDelayResolutionMs = 50;
/** If one file at a time is too much, a cooldown takes as long as the file: half of the time. */
export const copyCooldownTimesFirst = 1;
/**
 * Cooldown at most, in multiples of the file's time: a fifth of the speed of one file at a time.
 */
export const copyCooldownTimesMax = 4;
/**
 * No cooldown is longer: a low-priority process carries the bytes, so each file costs requests only
 * a few ms. A thousand files are still copied within two minutes.
 */
export const copyCooldownMsMax = 100;
/** The longest a source delays a chunk for its rate; then it answers when to ask again. */
export const copyReadWaitMsMax = 1_000;
/** How often a waiting throttle checks again, in case its rate was changed. */
export const throttleTurnMs = 100;

// --- dropping ------------------------------------------------------------------
/**
 * Share of a device's partitions, in percent, that are dropped without a question when a ring takes
 * them away without a move: an operator's mistake must not cost more.
 */
export const dropsPercentMax = 5;
/** This many are always allowed: five per cent of a small cluster are less than one partition. */
export const dropsFreeMax = 8;
/** How long dropped partitions are kept, if the disk has room: a mistake is noticed within days. */
export const trashHoursMax = 168;
/** The option's maximum, ten years: for longer times use a backup. */
export const trashHoursAllowedMax = 87_600;
/** Share of the disk, in percent, that the trash may take. */
export const trashPercentMax = 10;
/** How often the trash is trimmed, and snapshots that nobody reads are released. */
export const trashTickMs = 10_000;
/** Dropped partitions of one list: 300 bytes each fit a message. */
export const trashListMax = 8_192;

// --- splits and merges ----------------------------------------------------------
/**
 * Page cache of each file that is read or written while children are built: the index of a million
 * keys of 30 bytes. With fewer pages an index page is written once for each row in it.
 */
export const childCacheBytes = 64 * MIB;
/**
 * Bytes of a child synced at once while it is built: some 40 ms of the disk, which the log needs
 * too.
 */
export const childSyncBytes = 16 * MIB;
/**
 * How many times new writes to a child are merged into its built file outside the serving thread.
 * Each round has less to merge, unless writes outrun the merging.
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
 * The longest a server delays its answer to a rollout that waits for moves: within it a dead
 * connection is noticed, and asking again costs nothing.
 */
export const completeWaitMsMax = 10_000;
/** A device that gets a partition back asks for the records it missed, up to this share of all. */
export const catchUpMissedShareMax = 0.25;
/** Missed records requested at the same time: hides the round trip. */
export const catchUpReadsAtOnce = 64;

assert(receiptBytesMax * receiptsPerAnswerMax < socketMessageBytesMax, 'they fit a message');
