// Bugs of replication, refills and dropped tombstones: records that return, or never arrive. Pure.
import { flips } from '../nemeses/disk.ts';
import { part } from '../nemeses/part.ts';
import { pause } from '../nemeses/pause.ts';
import {
  missedUpdates,
  missedWrites,
  putBackDevice,
  wipedDevice,
} from '../scenarios/repair-scenarios.ts';
import type { SeededBug } from './seeded-bug.ts';

const partitionFile = 'packages/partition/src/file/partition-file.ts';
const pushRows = 'packages/server/src/repair/push-rows.ts';
const raiseFloor = 'packages/server/src/repair/raise-floor.ts';
const replica = 'packages/server/src/replica/replica.ts';
const replicationAnswers = 'packages/server/src/replica/replication-answers.ts';

export const repairBugs: readonly SeededBug[] = [
  {
    name: 'update-keeps-sequence',
    about: 'a record that replaces another keeps its sequence number, so peers never see it',
    nemeses: [missedUpdates],
    file: partitionFile,
    find: 'put(name, row, { seq: this.#tally.seq,',
    replace: 'put(name, row, { seq: current?.replaces ?? this.#tally.seq,',
  },
  {
    name: 'watermark-too-high',
    about: 'a peer counts as having what was too young to be offered to it',
    nemeses: [missedWrites],
    file: pushRows,
    find: 'lastSeq = youngIndex === -1 ? batch.lastSeq : (olderRows.at(-1)?.seq ?? lastSeq);',
    replace: 'lastSeq = batch.lastSeq;',
  },
  {
    name: 'sums-not-compared',
    about: 'a peer counts as having what holders were given of late, whatever its own sums say',
    nemeses: [missedUpdates],
    file: 'packages/server/src/repair/compare-holders.ts',
    find: 'peerSums.get(id) === sum',
    replace: '(peerSums.get(id) === sum || true)',
  },
  {
    name: 'watermark-unanswered',
    about: 'a peer counts as having what it was sent, whatever it answers',
    nemeses: [missedUpdates],
    file: pushRows,
    find: 'const { undecided } = await ports.devices.call({ active, device }, push, request);',
    replace:
      'const { undecided } = await ports.devices.call({ active, device }, push, request).catch(() => ({ undecided: [] }));',
  },
  {
    name: 'first-offer-only',
    about: 'what does not fit the first offer counts as offered',
    nemeses: [missedUpdates],
    file: pushRows,
    find: 'if (youngIndex === -1 && batch.more) continue;',
    replace:
      'if (youngIndex === -1) lastSeq = ports.store.info(active.ring.keyspace, partition)?.seq ?? lastSeq;',
  },
  {
    name: 'tombstones-by-clock',
    about: 'every device drops tombstones by their age, whoever may lack them',
    nemeses: [part, pause],
    file: raiseFloor,
    find: 'if (ring.table[0]?.[partition] !== self || moving.has(partition)) continue;',
    replace: '',
    also: [
      {
        file: raiseFloor,
        find: 'raised += (await raiseFloor(ports, { active, partition, floorMs })) ? 1 : 0;',
        replace:
          'await ports.store.raiseBarrier(ring.keyspace, partition, floorMs); await ports.store.raiseFloor(ring.keyspace, partition, floorMs);',
      },
      {
        file: partitionFile,
        find: 'if (row.ms <= floor_ms) return',
        replace: 'if (row.ms < 0) return',
      },
      { file: replica, find: 'return floorMs === 0 ? null', replace: 'return floorMs >= 0 ? null' },
      { file: replica, find: 'ms > barrierMs || isHere(store, request)', replace: 'ms > 0' },
      {
        file: replicationAnswers,
        find: 'held === null ? ms > floorMs :',
        replace: 'held === null ? true :',
      },
      {
        file: 'packages/server/src/repair/replicate.ts',
        find: 'if (holding.floorMs > mine.barrierMs) {',
        replace: 'if (holding.floorMs < 0) {',
      },
    ],
  },
  {
    name: 'wiped-begins-empty',
    about: 'a wiped device serves an empty file instead of refilling it',
    nemeses: [wipedDevice],
    file: 'packages/server/src/moves/open-partitions.ts',
    find: 'partition, survey.state)',
    replace: "partition, 'ready')",
  },
  {
    name: 'put-back-forgotten',
    about: 'what a device that was put back from a backup had acknowledged counts as never written',
    nemeses: [putBackDevice],
    file: 'packages/server/src/device/device-generation.ts',
    find: 'this.#isRestored = true;',
    replace: '',
  },
  {
    name: 'reads-while-filling',
    about: 'a device answers reads of a partition that it has not refilled yet',
    nemeses: [wipedDevice],
    file: replica,
    find: "if (ports.store.marks(keyspace, partition)?.state !== 'ready') throw filling(partition);",
    replace: '',
  },
  {
    name: 'damage-not-seen',
    about: 'records are given out without a look at their hash',
    nemeses: [flips],
    file: 'packages/partition/src/file/read-records.ts',
    find: 'if (matchesHash(record, hash)) return',
    replace: 'if (matchesHash !== undefined) return',
  },
];
