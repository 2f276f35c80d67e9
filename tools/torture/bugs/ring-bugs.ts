// Bugs of ring changes: a joiner's sources, when a joiner counts, when files are dropped. Pure.
import { absentHolder, splitInFlight, splitTakeover } from '../nemeses/ring-scenarios.ts';
import {
  cancelledJoin,
  checkedJoin,
  flippedCopy,
  lackedByHolder,
  plainJoin,
  staleCoordinator,
  writtenMeanwhile,
} from '../scenarios/move-scenarios.ts';
import type { SeededBug } from './seeded-bug.ts';

const loadPartition = 'packages/server/src/moves/load-partition.ts';
const drainPartition = 'packages/server/src/moves/drain-partition.ts';

export const ringBugs: readonly SeededBug[] = [
  {
    name: 'bootstrap-from-any',
    about: 'a joiner takes the file of any holder, not of the device that it replaces',
    nemeses: [plainJoin],
    file: loadPartition,
    find: 'const copy = await takeFile(ports, task, move.from);',
    replace:
      'const copy = await takeFile(ports, task, others[0]); if (copy === null) return { copy, merged: [others[0]] };',
  },
  {
    name: 'bootstrap-from-one',
    about: 'where the device replaced is away, one other slot is enough for a joiner',
    nemeses: [absentHolder],
    file: loadPartition,
    find: 'needed: slots.length - quorum + 1',
    replace: 'needed: 1',
  },
  {
    name: 'available-before-loaded',
    about: 'a joiner says that it is available, and has copied nothing',
    nemeses: [plainJoin],
    file: 'packages/server/src/moves/load-queue.ts',
    find: 'const loaded = await loadPartition(ports, task);',
    replace: 'const loaded = { copy: null, merged: [], forced: null };',
  },
  {
    name: 'no-new-incarnation',
    about: 'a copied file keeps the incarnation of the one it is a copy of',
    nemeses: [plainJoin],
    file: 'packages/partition/src/copy/adopt-copy.ts',
    find: 'copy.takeOver({ incarnation, life',
    replace: 'copy.takeOver({ incarnation: copy.info().incarnation, life',
    also: [
      {
        file: 'packages/partition/src/audit/own-file.ts',
        find: 'file.takeOver({ ...owner, barrierMs: 0 });',
        replace:
          'file.takeOver({ ...owner, ...{ incarnation: file.info().incarnation, barrierMs: 0 } });',
      },
    ],
  },
  {
    name: 'drop-unasked',
    about: 'an old holder drops its file without a word to the holders',
    nemeses: [absentHolder],
    file: drainPartition,
    find: 'await Promise.all(holders.map((device) => confirmAll(ports, { active, partition, device })));',
    replace: '',
  },
  {
    name: 'drop-after-quorum',
    about: 'an old holder drops its file when a quorum of the holders has everything',
    nemeses: [absentHolder],
    file: drainPartition,
    find: 'await Promise.all(holders.map((device) => confirmAll(ports, { active, partition, device })));',
    replace:
      'const told = await Promise.allSettled(holders.map((device) => confirmAll(ports, { active, partition, device }))); if (told.filter(({ status }) => status === "rejected").length > 1) throw changed(partition);',
  },
  {
    name: 'digests-not-compared',
    about: 'a holder counts as having everything when its last rows are here, whatever its digest',
    nemeses: [lackedByHolder],
    file: 'packages/partition/src/store/store-rows.ts',
    find: 'return difference.high === 0 && difference.low === 0;',
    replace: 'return true;',
  },
  {
    name: 'drop-forgotten',
    about: 'an old holder has given everything, and keeps its file',
    nemeses: [plainJoin],
    file: drainPartition,
    find: 'await ports.store.drop(keyspace, partition);',
    replace: '',
  },
  {
    name: 'acks-by-device',
    about: 'both devices of a slot in flight count towards a quorum',
    nemeses: [splitInFlight],
    file: 'packages/server/src/coordinate/slot-acks.ts',
    find: 'if (first === true && second === true) acked += 1;',
    replace: 'acked += Number(first === true) + Number(joiner !== null && second === true);',
    also: [
      {
        file: 'packages/server/src/coordinate/slot-acks.ts',
        find: 'if (first !== false && second !== false) possible += 1;',
        replace:
          'possible += Number(first !== false) + Number(joiner !== null && second !== false);',
      },
    ],
  },
  {
    name: 'takeover-not-asked',
    about: 'a joiner counts as soon as its ring names it, whatever ring the former holders have',
    nemeses: [splitTakeover],
    file: 'packages/server/src/moves/confirm-takeover.ts',
    find: 'return behind < quorum ? [partition] : [];',
    replace: 'return behind >= 0 ? [partition] : [];',
  },
  {
    name: 'acks-while-filling',
    about: 'a device of the table acknowledges writes before its file counts as complete',
    nemeses: [splitTakeover],
    file: 'packages/server/src/replica/replica.ts',
    find: "if (duty.kind === 'SERVE' && !isComplete) throw filling(partition);",
    replace: 'void isComplete;',
  },
  {
    name: 'min-version-not-raised',
    about: 'the version that names a joiner does not fence those who know only the one before',
    nemeses: [staleCoordinator],
    file: 'packages/ring/src/advance-ring.ts',
    find: 'moves: without(ring.moves, finalized), touched: finalized });',
    replace: 'moves: without(ring.moves, finalized), touched: [] });',
    also: [
      {
        file: 'packages/ring/src/audit/audit-transition.ts',
        find: 'if (found === wanted) continue;',
        replace: 'if (found !== undefined || wanted === 0) continue;',
      },
    ],
  },
  {
    name: 'copy-without-delta',
    about: 'what came while a copy was on its way is neither merged nor asked for',
    nemeses: [writtenMeanwhile],
    file: 'packages/partition/src/copy/adopt-copy.ts',
    find: 'copy.apply(merging, { bytesLeft: replacedTurnBytesMax }).length',
    replace: 'merging.length',
    also: [
      {
        file: loadPartition,
        find: 'await pullRows(ports, task, { device, copied });',
        replace: 'void pullRows;',
      },
    ],
  },
  {
    name: 'copy-not-verified',
    about:
      'a copy is taken over as it came: no checksum, no check, no comparison with its manifest',
    nemeses: [flippedCopy],
    file: 'packages/partition/src/copy/incoming-copy.ts',
    find: 'if (found !== seal)',
    replace: "if (found === '')",
    also: [
      {
        file: 'packages/partition/src/copy/carrier-copy.ts',
        find: 'if (found !== checksum) {',
        replace: "if (found === '') {",
      },
      {
        file: 'packages/partition/src/copy/staged-copy.ts',
        find: 'if (first === undefined) return audit.owned;',
        replace: 'if (first !== null) return audit.owned;',
      },
    ],
  },
  {
    name: 'copy-of-another',
    about: 'a process gives the file of another partition, and nobody compares whose it is',
    nemeses: [checkedJoin],
    file: 'packages/partition/src/copy/outgoing-copy.ts',
    find: 'const walBytes = file.wal.stopCheckpoint();\n    const { name } = file.db;',
    replace:
      'const other = [...parts.registry.all()].find((one) => one !== partition && one.file !== null)?.file ?? file; other.flush(); const walBytes = other.wal.stopCheckpoint(); const { name } = other.db;',
    also: [
      {
        file: 'packages/partition/src/copy/staged-copy.ts',
        find: 'if (first === undefined) return audit.owned;',
        replace: 'if (first !== null) return audit.owned;',
      },
    ],
  },
  {
    name: 'cancelled-file-kept',
    about: 'a joiner keeps what it had copied when its move is cancelled',
    nemeses: [cancelledJoin],
    file: 'packages/server/src/moves/plan-duties.ts',
    find: "if (isSurplus(active, partition)) steps.push({ kind: 'drain', partition });",
    replace:
      "if (isSurplus(active, partition) && holdings.states.get(partition) === 'ready') steps.push({ kind: 'drain', partition });",
  },
];
