// Bugs of the log and the files, which a power loss or a replay reveals. Pure.
import { adoptedThenCut } from '../scenarios/move-scenarios.ts';
import { longRestingPartition, powerLoss, restingPartition } from '../scenarios/power-scenarios.ts';
import type { SeededBug } from './seeded-bug.ts';

export const durabilityBugs: readonly SeededBug[] = [
  {
    name: 'ack-before-sync',
    about: 'a write is acknowledged while it is on its way into the log',
    nemeses: [powerLoss],
    file: 'packages/partition/src/log/log-segment.ts',
    find: 'const position = segment.bytes;',
    replace: 'const position = segment.bytes; setImmediate(done, null); done = () => undefined;',
  },
  {
    name: 'frame-of-first-only',
    about: 'of many writes in one frame of the log only the first is in it, all are acknowledged',
    nemeses: [powerLoss],
    file: 'packages/partition/src/log/log-batch.ts',
    find: 'batch.used = end;',
    replace: 'if (batch.entries.length === 0) batch.used = end;',
  },
  {
    name: 'replay-skips-last-frame',
    about: 'the replay of a log ends one frame early',
    nemeses: [powerLoss],
    file: 'packages/partition/src/log/read-segment.ts',
    find: 'const unknownAt = places.add(frame.payload, start);',
    replace:
      'const unknownAt = frameAt(segment, frame.end, header.seed) ? places.add(frame.payload, start) : null;',
  },
  {
    name: 'segment-freed-early',
    about: 'a log segment is removed before every partition it touches was checkpointed',
    nemeses: [restingPartition],
    // Raises this limit, because a partition that is closed to make room is checkpointed first.
    file: 'packages/partition/src/log/store-limits.ts',
    find: 'openPartitionFilesMax: 5,',
    replace: 'openPartitionFilesMax: 64,',
    also: [
      {
        file: 'packages/partition/src/log/checkpointer.ts',
        find: 'needed = Math.min(needed, dirtySegment, neededSegment);',
        replace: 'void [dirtySegment, neededSegment];',
      },
    ],
  },
  {
    name: 'log-freed-before-file-counts',
    about: 'a log segment is removed while a start still throws the new file of a partition away',
    nemeses: [longRestingPartition],
    file: 'packages/partition/src/store/finish-file.ts',
    find: 'await finishPartitionDirectory(home, partition.incarnation);',
    replace: 'void finishPartitionDirectory;',
    also: [
      {
        file: 'packages/partition/src/store/finish-file.ts',
        find: 'await parts.empties.remove({ keyspace, partition: number });',
        replace: '',
      },
    ],
  },
  {
    name: 'switched-before-sync',
    about: 'CURRENT names a copy whose identity and merged rows are not synced',
    nemeses: [adoptedThenCut],
    file: 'packages/partition/src/copy/adopt-copy.ts',
    find: 'if (await copy.checkpointInPool()) return;',
    replace: 'if (copy !== null) return;',
  },
];
