// Opens a data directory: takes its lock, reads its partitions, replays the commit log and begins a
// new segment.

import { mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { assert } from '@ringwright/base/assert';
import type { CodedError } from '@ringwright/base/coded-error';
import {
  heldWalBytesMax,
  sideJobsMax,
  sideProcessIdleMsMax,
  sideProcessStallMsMax,
} from '@ringwright/base/limits-copies';
import {
  affordableConnectionsMin,
  descriptorsKept,
  descriptorsOfOwn,
  openFileBytes,
  openFilesMemoryShare,
  openPartitionFilesMax,
  openPartitionFilesMin,
  pageCachesMemoryShare,
  rowCachesBytesMax,
  rowCachesMemoryShare,
} from '@ringwright/base/limits-store';
import type { MaybePromise } from '@ringwright/base/maybe-promise';
import { makeDirectory, syncDirectory } from '@ringwright/node/durable-files';
import { KeyedMutex } from '@ringwright/node/keyed-mutex';
import { type MachineLimits, machineLimits } from '@ringwright/node/machine-limits';
import { lockDirectory } from './audit/directory-lock.ts';
import { CopyProcess } from './carrier/copy-process.ts';
import { writeCheckpoints } from './file/checkpoints.ts';
import { dataPaths, isIncarnation } from './file/data-paths.ts';
import { readEmptyPartitions } from './file/empty-partitions.ts';
import { FileOpener } from './file/file-opener.ts';
import { Memtables } from './file/memtables.ts';
import { OpenFiles } from './file/open-files.ts';
import type { Partition } from './file/partition.ts';
import { readPartitions } from './file/read-partitions.ts';
import type { OnStep } from './file/start-step.ts';
import { applyWrites } from './log/apply-writes.ts';
import { Checkpointer, checkpointPartition } from './log/checkpointer.ts';
import { CommitLog } from './log/commit-log.ts';
import type { LogBatch, WriteCall } from './log/log-batch.ts';
import type { LogSegment } from './log/log-segment.ts';
import { type StoreLimits, storeLimits } from './log/store-limits.ts';
import { recoverLog } from './recover-log.ts';
import { SideProcess } from './side/side-process.ts';
import { DiskSpace } from './store/disk-space.ts';
import { finishFile } from './store/finish-file.ts';
import { failureOf, type StoreParts } from './store/store-parts.ts';
import { Store } from './store.ts';

interface OpenStoreOptions {
  /** The data directory; created if it does not exist. */
  readonly directory: string;
  /** Must return a fresh random id of [A-Za-z0-9_-]{1,64} on each call. */
  readonly newIncarnation: () => string;
  /** Called once, with STORE_FAILED. The caller must close the store and reopen the directory. */
  readonly onFailure?: ((error: CodedError) => void) | undefined;
  /** Called after each partition of each step. */
  readonly onStep?: OnStep | undefined;
  readonly limits?: Partial<StoreLimits> | undefined;
  /** Address at which the carrier serves files to other servers; default: any port on loopback. */
  readonly copies?: { readonly host: string; readonly port: number } | undefined;
}

const anyCopies = { host: '127.0.0.1', port: 0 };

/**
 * When this resolves, everything that was acknowledged before is readable. A damaged partition file
 * does not keep the other partitions from opening: see `store.damaged()`. Throws DATA_DIR_IN_USE,
 * LOG_DAMAGED, STORE_UNFIT.
 */
export async function openStore(options: OpenStoreOptions): Promise<Store> {
  const { onStep = () => undefined } = options;
  const root = resolve(options.directory);
  const limits = storeLimits(options.limits);
  await makeFolders(root);
  const lock = lockDirectory(root);
  const machine = machineLimits();
  const files = new OpenFiles(root, {
    filesMax: Math.min(limits.openPartitionFilesMax, affordableFiles(machine)),
    pageCachesBytesMax: machine.memoryBytes * pageCachesMemoryShare,
    rowCachesBytesMax: Math.min(machine.memoryBytes * rowCachesMemoryShare, rowCachesBytesMax),
  });
  try {
    await emptyStaging(root);
    const empties = await readEmptyPartitions(root);
    await empties.sync();
    const registry = await readPartitions(root, { files, empties, onStep });
    const mutex = new KeyedMutex();
    const segment = await recoverLog({ root, files, registry }, onStep);
    const memtables = new Memtables(files, limits);
    const disk = new DiskSpace(root, limits.diskReserveBytes);
    const ready = { root, limits, lock, disk, files, memtables, registry, empties, mutex, segment };
    const parts = assemble(options, ready);
    // The replay has checkpointed no file.
    parts.checkpointer.segmentBegan();
    return new Store(parts);
  } catch (error) {
    for (const partition of [...files.all()]) files.abandon(partition);
    lock.release();
    throw error;
  }
}

async function makeFolders(root: string): Promise<void> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  await syncDirectory(dirname(root));
  for (const folder of [dataPaths.log, dataPaths.partitions, dataPaths.staging, dataPaths.trash]) {
    await makeDirectory(folder(root));
  }
}

async function emptyStaging(root: string): Promise<void> {
  const staging = dataPaths.staging(root);
  for (const name of await readdir(staging)) {
    await rm(join(staging, name), { recursive: true, force: true });
  }
}

type Ready = Pick<
  StoreParts,
  'root' | 'limits' | 'lock' | 'disk' | 'files' | 'memtables' | 'registry' | 'empties' | 'mutex'
> & {
  segment: LogSegment;
};

function assemble(options: OpenStoreOptions, ready: Ready): StoreParts {
  const { root, limits, registry, segment } = ready;
  const fail = (error: unknown): void => {
    if (parts.failure !== null) return;
    parts.failure = failureOf(error, root);
    // It may be unknown which file of a partition is in use. The log keeps what either may lack.
    checkpointer.end();
    for (const batch of log.abandon()) {
      for (const { call } of batch.entries) call.reject(parts.failure);
    }
    options.onFailure?.(parts.failure);
  };
  const log = new CommitLog({
    directory: dataPaths.log(root),
    limits,
    segment,
    onDurable: (batch) => applyBatch(parts, batch),
    onRotate: () => checkpointer.segmentBegan(),
    onFailure: fail,
  });
  const checkpointer = new Checkpointer({
    logDirectory: dataPaths.log(root),
    log,
    partitions: () => registry.needingLog(),
    files: ready.files,
    segmentsBehindMax: limits.logSegmentsBehindMax,
    onFailure: fail,
    beforeRemoval: () => writeCheckpoints(root, registry),
    finish: (partition) => finishFile(ready, partition),
  });
  const processLimits = { idleMsMax: sideProcessIdleMsMax, stallMsMax: sideProcessStallMsMax };
  const sideOptions = { jobsMax: sideJobsMax, ...processLimits };
  let staged = 0;
  const parts: StoreParts = {
    ...ready,
    log,
    checkpointer,
    opener: new FileOpener(ready.files, {
      isClosed: () => parts.closed || parts.failure !== null,
      fail,
    }),
    mirrors: new Map(),
    durableKeyspaces: new Set(),
    audits: new SideProcess(sideOptions),
    copies: new SideProcess(sideOptions),
    carrier: new CopyProcess({ ...(options.copies ?? anyCopies), ...processLimits }),
    newIncarnation: () => {
      const incarnation = options.newIncarnation();
      assert(isIncarnation(incarnation), `incarnation ${JSON.stringify(incarnation)}`);
      return incarnation;
    },
    stagingPath: (purpose) => {
      staged += 1;
      return join(dataPaths.staging(root), `${purpose}-${staged}`);
    },
    closed: false,
    failure: null,
    fail,
  };
  return parts;
}

/** Batches must arrive in log order, each after the one before has been applied. */
function applyBatch(parts: StoreParts, batch: LogBatch): MaybePromise<void> {
  // Calls resolve at the end: a caller may do anything, even throw, and must not find the store
  // half-way through a batch.
  const finishedCalls: WriteCall[] = [];
  const turns = applyWrites(batch.entries, {
    files: parts.files,
    segment: batch.segment,
    answer: ({ call, index }, outcome) => {
      call.outcomes[index] = outcome;
      call.waiting -= 1;
      if (call.waiting === 0) finishedCalls.push(call);
    },
    refuse: ({ call }, error) => call.reject(error),
  });
  const applyTurn = (): boolean => {
    try {
      if (parts.failure !== null) throw parts.failure;
      const { value: changed, done = false } = turns.next();
      noteChanged(parts, changed);
      return done;
    } catch (error) {
      parts.fail(error);
      for (const { call } of batch.entries)
        if (!finishedCalls.includes(call)) call.reject(parts.failure);
      return true;
    }
  };
  const finish = (): void => {
    for (const call of finishedCalls) call.resolve(call.outcomes);
  };
  return applyTurn() ? finish() : applyLater(applyTurn).then(finish);
}

/** Applies the rest in turns of its own. */
async function applyLater(applyTurn: () => boolean): Promise<void> {
  do await setImmediate();
  while (!applyTurn());
}

function noteChanged(parts: StoreParts, changed: ReadonlySet<Partition>): void {
  const { files, limits, memtables, registry, checkpointer } = parts;
  for (const partition of changed) registry.touch(partition);
  for (const partition of memtables.afterWrites(changed)) {
    if (!partition.file?.wal.exceeds(limits.walBytesMax)) continue;
    // Above the hard limit the disk does not keep up, so the writers wait for it.
    if (partition.file.wal.exceeds(heldWalBytesMax)) checkpointPartition(files, partition);
    else void checkpointer.request(partition);
  }
}

/**
 * Four descriptors per file, two of them for syncs. A quarter of the descriptors stays free for
 * connections, and half where they are scarce.
 */
export function affordableFiles({ memoryBytes, descriptors }: MachineLimits): number {
  const byMemory = (memoryBytes * openFilesMemoryShare) / openFileBytes;
  const most = Math.min(descriptors - descriptorsKept, descriptors * 0.75);
  const byDescriptors = Math.max(most, descriptors / 2) / 4;
  const wanted = Math.max(openPartitionFilesMin, Math.min(byMemory, openPartitionFilesMax));
  return Math.floor(Math.min(wanted, byDescriptors));
}

/** Descriptors that the open files leave for connections to this process. */
export function affordableConnections(machine: MachineLimits): number {
  const left = machine.descriptors - 4 * affordableFiles(machine);
  return Math.max((left - descriptorsOfOwn) * 0.9, affordableConnectionsMin);
}
