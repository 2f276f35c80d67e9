// Limits made small for tortured servers, so that events that are rare in production are frequent.
import type { SourcePatch } from './source-patches.ts';

const limits = 'packages/base/src/limits.ts';
const limitsOfCopies = 'packages/base/src/limits-copies.ts';
const limitsOfStores = 'packages/base/src/limits-store.ts';
const storeLimits = 'packages/partition/src/log/store-limits.ts';

function small(file: string, find: string, replace: string): SourcePatch {
  return { file, find, replace };
}

export const tuning: readonly SourcePatch[] = [
  small(limitsOfStores, 'tombstoneAgeMsMin = 3_600_000', 'tombstoneAgeMsMin = 4_000'),
  small(limitsOfStores, 'tombstoneRoundMs = 600_000', 'tombstoneRoundMs = 3_000'),
  small(limitsOfStores, 'scrubFirstMs = 600_000', 'scrubFirstMs = 2_000'),
  small(limitsOfStores, 'scrubCycleMs = 24 * 3_600_000', 'scrubCycleMs = 6_000'),
  small(limitsOfStores, 'scrubTickMs = 1_000', 'scrubTickMs = 200'),
  small(limitsOfStores, 'mergeRowsMin = 256', 'mergeRowsMin = 4'),
  // Scenarios have more records, so their files are copied; some other partitions are small.
  small(limitsOfCopies, 'smallPartitionRowsMax = 128', 'smallPartitionRowsMax = 6'),
  small(limits, 'stampsReservedMs = 4_000', 'stampsReservedMs = 400'),
  small('packages/wire/src/replication.ts', 'offerRowsMax = 1_024', 'offerRowsMax = 16'),
  small(storeLimits, 'limits.logSegmentBytesMax', '512 * 1024'),
  small(storeLimits, 'limits.openPartitionFilesMax', '5'),
  small(storeLimits, 'limits.memtableRowsMax', '64'),
  small(storeLimits, 'limits.memtableBytesMax', '128 * 1024'),
  small(storeLimits, 'limits.walBytesMax', '32 * 1024'),
  small(storeLimits, 'limits.diskReserveBytes', '8_192'),
  small(storeLimits, '  copyHeldBytesMax,', '  copyHeldBytesMax: 32 * 1024,'),
];

const limitsOfCommands = 'packages/base/src/limits-commands.ts';

/** For archive commands: they read and write in many small steps, and may die between them. */
export const archiveTuning: readonly SourcePatch[] = [
  small(limitsOfCommands, 'archiveFrameRecordsMax = 1_000', 'archiveFrameRecordsMax = 16'),
  small(limitsOfCommands, 'archiveProgressBytes = 16 * 1_048_576', 'archiveProgressBytes = 1'),
  small(limitsOfCommands, 'restoredAtOnce = 64', 'restoredAtOnce = 8'),
];
