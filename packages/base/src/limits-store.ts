// Limits of stores: the commit log, partition files and the memory in front of them.
import { assert } from './assert.ts';
import { KIB, keyBytesMax, MIB, peerCallTimeoutMs, valueBytesMax } from './limits.ts';

/** A power of two near the write rate of one minute; replay reads at most a few of them. */
export const logSegmentBytesMax = 64 * MIB;
/** Older segments force a checkpoint of the partitions that still need them. */
export const logSegmentsBehindMax = 1;
/** Zeros that a small frame of the log brings along: room for about a thousand more, for 1 ms. */
export const logFillBytes = 1 * MIB;
/** One durable write; 4 MiB takes ~10 ms on a slow disk, and applies in one turn. */
export const logBatchBytesMax = 4 * MIB;
/** Writes applied in one turn of the event loop: at 20 us each, 20 ms. */
export const logBatchWritesMax = 1_024;
/** Bytes of the values that writes replace in one turn: 1 MiB takes 0.5 ms, and 0.5 ms to flush. */
export const replacedTurnBytesMax = 16 * MIB;
/** Bytes of writes that wait for the log; beyond it STORE_BUSY, so that memory stays bounded. */
export const logQueueBytesMax = 64 * MIB;
/** A disk hangs if a write of the log takes longer: other servers stop waiting for it then. */
export const logStallMs = peerCallTimeoutMs;
/**
 * Minimum of files open at once, whatever the machine's memory. There are fewer only where
 * descriptors are scarce, of which each file takes four. Opening a file takes 0.6 ms, and closing
 * it some syncs: a device with 1,000 partitions must not do that for every request.
 */
export const openPartitionFilesMin = 1_100;
/** Maximum of files open at once, however large the machine: 1.6 GiB. */
export const openPartitionFilesMax = 8_192;
/** Memory of an open file besides its page cache. */
export const openFileBytes = 200 * KIB;
/**
 * Files opened between two collections of the garbage this makes, 1 ms each: 16 KiB per file,
 * mostly of statements, which V8 takes for small. Mixed with live objects, their memory would never
 * be returned.
 */
export const openedFilesUncollectedMax = 24;
/** Half-life of the request rate: a split is for load that lasts. */
export const requestRateHalfLifeMs = 60_000;

/** How often requests are counted: a pass over all partitions, 0.1 ms for 4,096. */
export const requestCountEveryMs = 5_000;
/** How often a long start logs what it does: reading 10,000 partition folders takes some 10 s. */
export const startLogEveryMs = 5_000;

/** Share of the machine's memory for the open files of one device: 4,096 partitions with 20 GiB. */
export const openFilesMemoryShare = 1 / 24;
/** Page cache of one file, if few are open: some 200,000 rows of 100 bytes and their index. */
export const fileCacheBytesMax = 64 * MIB;
/** With less, the path to a row (three index pages, three table pages) is read each time. */
export const fileCacheBytesMin = 64 * KIB;
/** Share of machine memory for one device's page caches: 1 MiB for 1,024 files with 24 GiB. */
export const pageCachesMemoryShare = 1 / 24;
/** Share of the machine's memory for one device's row caches. */
export const rowCachesMemoryShare = 1 / 128;
/** Row caches of one device, 180,000 rows of 100 bytes: the garbage collector visits each. */
export const rowCachesBytesMax = 64 * MIB;
/** Descriptors reserved for connections, copies and the log, unless a quarter of all is more. */
export const descriptorsKept = 1_000;
/** Of these, for the log, state files, helper processes and connections to other servers. */
export const descriptorsOfOwn = 100;
/** Connections accepted however scarce descriptors are: operators must reach the server. */
export const affordableConnectionsMin = 16;
/** Rows of one memtable, flushed in one transaction: at ~10 us each, 10 ms of a turn. */
export const memtableRowsMax = 1_024;
/** Bytes of one memtable: a transaction of 2 MiB takes ~10 ms. */
export const memtableBytesMax = 2 * MIB;
/** Bytes of all memtables of a store: 60 rows for each of 1,000 partitions with small values. */
export const memtablesBytesMax = 24 * MIB;
/** A checkpoint of 4 MiB takes ~20 ms of one turn, far below the 200 ms that a turn may take. */
export const walBytesMax = 4 * MIB;
/**
 * Below this, writes are refused before SQLite or the log reach the end of the disk: log + WALs in
 * flight.
 */
export const diskReserveBytes = 256 * MIB;
/** The same for inodes: a partition has some files, and the log begins a new one now and then. */
export const diskReserveInodes = 1_000;
/** A file of a server's own state: 100,000 devices that it remembers take 15 MB. */
export const stateFileBytesMax = 64 * MIB;
/** Bytes a store writes when it opens, besides what it replays: a new segment and small files. */
export const startRoomBytes = 16 * MIB;
/** Free space is checked again after so many written bytes, or after this time. */
export const diskCheckEveryBytes = 16 * MIB;
export const diskCheckEveryMs = 1_000;
/** Rows merged into an adopted copy per turn: 5 ms, and 15 ms of another turn to store them. */
export const mergeRowsMin = 256;
/** The same while more rows arrive than are merged: twice a batch, so merging outruns writing. */
export const mergeRowsMax = 2 * logBatchWritesMax;
export const mergeBytesMax = 2 * logBatchBytesMax;
/**
 * Syncs of an adopted copy, while more arrives during each of them than one turn may merge. If the
 * disk is slower than that, the last turn gets long.
 */
export const mergeSyncsMax = 4;
/** SQLite pages (4 KiB) copied per turn by a snapshot: 1 MiB. */
export const snapshotPagesPerTurn = 256;
/**
 * Peers whose confirmed sequence a file remembers; the oldest is dropped first, which only costs a
 * resend.
 */
export const watermarkCountMax = 4_096;
export const watermarkPeerCharactersMax = 256;
/** Size of a received partition file; larger ones should have been more partitions. */
export const partitionFileBytesMax = 64 * 1024 * MIB;
/**
 * Minimum age of dropped tombstones: not needed for safety, but writes this old are seldom in
 * flight.
 */
export const tombstoneAgeMsMin = 3_600_000;
/** How often a device tries to drop tombstones: each attempt costs a sync per holder and file. */
export const tombstoneRoundMs = 600_000;
/** Maximum read rate of the scrub: a twentieth of a slow disk. */
export const scrubBytesPerSecondMax = 4 * MIB;
/** Each file is read once in this time, if the rate allows it. */
export const scrubCycleMs = 24 * 3_600_000;
/** The first cycle begins this long after a start: partitions that fill or move come first. */
export const scrubFirstMs = 600_000;
/**
 * How often the open files are compared with the directory, with three system calls each: nothing
 * else notices that a file is gone.
 */
export const filesCheckMs = 60_000;
/** Files checked per turn: a few microseconds each. */
export const filesLookedAtPerTurn = 64;
/** Files opened or made for writes per turn: about a millisecond each. */
export const filesOpenedPerTurn = 16;
/** How often the scrub checks whether it may read the next file. */
export const scrubTickMs = 1_000;

assert(
  logBatchBytesMax >= 2 * (valueBytesMax + keyBytesMax + 1 * KIB),
  'the largest record fits a batch with room to spare',
);
assert(logBatchBytesMax * 4 <= logSegmentBytesMax, 'a segment holds several batches');
assert(logBatchBytesMax <= logQueueBytesMax, 'a batch fits the queue');

/**
 * How long files are checkpointed when a server stops. The log has what the others lack, and the
 * next start replays it. Whoever stops a server waits 2 s.
 */
export const leavingMsMax = 1_000;
/** The longest stop, where the disk hangs: less than the 30 s after which systemd kills. */
export const stopMsMax = 20_000;
/** How long a process that ends waits for calls of its disk. */
export const diskCallsMsMax = 2_000;
/** Enough for the threads of the pool, and for the file system to sync several in one go. */
export const filesSyncedAtOnce = 8;
