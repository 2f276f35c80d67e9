// The state and components that the operations of one store share.
import { CodedError, hasCode } from '@ringwright/base/coded-error';
import { diskError, isDiskFull, otherLimits } from '@ringwright/base/disk-error';
import { codeOf, messageOf } from '@ringwright/base/thrown';
import type { KeyedMutex } from '@ringwright/node/keyed-mutex';
import type { DirectoryLock } from '../audit/directory-lock.ts';
import type { CopyProcess } from '../carrier/copy-process.ts';
import { dataPaths, type PartitionRef } from '../file/data-paths.ts';
import type { EmptyPartitions } from '../file/empty-partitions.ts';
import type { FileOpener } from '../file/file-opener.ts';
import type { Memtables } from '../file/memtables.ts';
import type { OpenFiles } from '../file/open-files.ts';
import type { Partition } from '../file/partition.ts';
import type { KeyspaceFolders } from '../file/partition-directory.ts';
import type { Registry } from '../file/registry.ts';
import type { Checkpointer } from '../log/checkpointer.ts';
import type { CommitLog } from '../log/commit-log.ts';
import type { StoreLimits } from '../log/store-limits.ts';
import type { SideProcess } from '../side/side-process.ts';
import type { DiskSpace } from './disk-space.ts';
import type { Mirror } from './mirror.ts';

/** Owned by one Store. Only `closed` and `failure` are reassigned. */
export interface StoreParts extends KeyspaceFolders {
  readonly limits: StoreLimits;
  readonly lock: DirectoryLock;
  readonly disk: DiskSpace;
  readonly files: OpenFiles;
  readonly opener: FileOpener;
  readonly memtables: Memtables;
  readonly registry: Registry;
  readonly empties: EmptyPartitions;
  readonly log: CommitLog;
  readonly checkpointer: Checkpointer;
  readonly mutex: KeyedMutex;
  /** By keyspace: partitions that are being split or merged. */
  readonly mirrors: Map<string, Mirror>;
  /**
   * Each kind of work has its own helper process, so that a scrub of a long file does not delay
   * copies.
   */
  readonly audits: SideProcess;
  readonly copies: SideProcess;
  /** Sends whole files to other servers, and receives theirs. */
  readonly carrier: CopyProcess;
  readonly newIncarnation: () => string;
  /** Returns a fresh path in the staging folder, which is emptied when a store opens. */
  readonly stagingPath: (purpose: string) => string;
  closed: boolean;
  /** Why the store accepts no more calls, or null. */
  failure: CodedError | null;
  /** Puts the store into its failed state; only reopening from disk helps. */
  readonly fail: (error: unknown) => void;
}

/** Throws STORE_CLOSED or STORE_FAILED. Long operations call it first and after each wait. */
export function checkOpen(parts: Pick<StoreParts, 'closed' | 'failure'>): void {
  if (parts.failure !== null) throw parts.failure;
  if (parts.closed) throw new CodedError('STORE_CLOSED', 'the store is closed');
}

/** Throws STORE_CLOSED, STORE_FAILED, PARTITION_ABSENT. */
export function partitionOf(parts: StoreParts, { keyspace, partition }: PartitionRef): Partition {
  checkOpen(parts);
  const found = parts.registry.get(keyspace, partition);
  if (found !== undefined) return found;
  throw new CodedError('PARTITION_ABSENT', `this device has no file of ${keyspace}/${partition}`, {
    details: { keyspace, partition },
  });
}

/**
 * Fails the store, because it is unknown what is on disk or in use; only reopening can tell.
 * Returns the error to throw.
 */
export function failed(parts: StoreParts, error: unknown): unknown {
  parts.fail(error);
  return parts.failure ?? error;
}

/** Wraps an error as STORE_FAILED. `root`: the data directory. */
export function failureOf(error: unknown, root: string): CodedError {
  if (hasCode(error, 'STORE_FAILED')) return error;
  const reason = messageOf(error);
  const [problem, hint] = isDiskFull(error)
    ? [
        `the disk of ${root} is full, and the store cannot continue`,
        'free some space, then start again: all acknowledged writes are on the disk; ' +
          `dropped partitions are in ${dataPaths.trash(root)}; ` +
          `if the disk has free bytes, ${otherLimits}`,
      ]
    : [
        `the store of ${root} failed`,
        `${adviceOn(error)}, then start again: the log on the disk is replayed`,
      ];
  return new CodedError('STORE_FAILED', `${problem}: ${reason}`, { hint, cause: error });
}

/** A lack of descriptors says nothing about the disk. */
function adviceOn(error: unknown): string {
  const lacksDescriptors = /^(EMFILE|ENFILE)$/.test(codeOf(error));
  return (lacksDescriptors && diskError(error)?.hint) || 'check the disk';
}
