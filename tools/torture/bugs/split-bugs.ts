// Bugs of splits and merges: which writes a child must get, and when. Pure.

import { kill } from '../nemeses/kill.ts';
import { splitsAndMerges } from '../nemeses/ring-scenarios.ts';
import type { SeededBug } from './seeded-bug.ts';

const fillChild = 'packages/server/src/moves/fill-child.ts';
const adoptChildren = 'packages/partition/src/adopt-children.ts';

export const splitBugs: readonly SeededBug[] = [
  {
    name: 'scan-skips-at-a-boundary',
    // A full page states where the scan continues, even when nothing is left there.
    about: 'a page that ends with a partition goes on behind the next one',
    nemeses: [kill],
    file: 'packages/server/src/coordinate/scan-keyspace.ts',
    find: 'else position = only === null ? nextPosition(scanned, position) : null;',
    replace:
      'else { const wasRead = found.length === 0 && position.at.length > 0; position = nextPosition(scanned, position); if (wasRead && position !== null) position = nextPosition(scanned, position); }',
  },
  {
    name: 'written-only-to-parent',
    about: 'writes that come while a partition is split go to the parent alone',
    nemeses: [splitsAndMerges],
    file: 'packages/partition/src/store/mirrors.ts',
    find: 'if (phase === undefined) return null;',
    replace: 'return null;',
  },
  {
    name: 'child-before-writes-end',
    about: 'a child hears of writes only when it has the rows, and rows are older than that',
    nemeses: [splitsAndMerges],
    file: fillChild,
    find: "mirror(store, family, 'all');",
    replace: '',
    also: [
      {
        // Torture files are small; this delay lasts as long as a large file takes.
        file: fillChild,
        find: 'const after = parentInfos();',
        replace:
          'await new Promise((resolve) => setTimeout(resolve, 1_500)); const after = parentInfos();',
      },
    ],
  },
  {
    name: 'promise-not-carried',
    about: 'a child has the floor of its parents, but not what they promised for it',
    nemeses: [splitsAndMerges],
    file: fillChild,
    find: 'store.carryMarks(keyspace, child.partition, { floorMs, barrierMs })',
    replace: 'store.carryMarks(keyspace, child.partition, { floorMs, barrierMs: 0 })',
  },
  {
    name: 'merged-from-one',
    about: 'of partitions that are merged only the first gives its rows',
    nemeses: [splitsAndMerges],
    file: adoptChildren,
    find: 'const parents = family.parents',
    replace: 'const parents = family.parents.slice(0, 1)',
  },
  {
    name: 'merged-too-far',
    about: 'what came while rows were merged beside the store counts as merged',
    nemeses: [splitsAndMerges],
    // Torture files are small: the delays make building and merging take as long as with a large
    // file, and writes in the meantime are merged however few they are.
    file: adoptChildren,
    find: '  const mergedSeq = await mergeAside',
    replace:
      '  await new Promise((resolve) => setTimeout(resolve, 1_500)); const mergedSeq = await mergeAside',
    also: [
      {
        file: adoptChildren,
        find: '      merged = seq;',
        replace:
          '      await new Promise((resolve) => setTimeout(resolve, 4_000)); ' +
          'merged = Math.max(seq, readPartitionFile(parts, child, (file) => file.seq));',
      },
      { file: adoptChildren, find: 'seq > merged + mergeRowsMin', replace: 'seq > merged' },
    ],
  },
  {
    name: 'child-without-rows',
    about: 'a child begins empty, and says that it has what its parents had',
    nemeses: [splitsAndMerges],
    file: adoptChildren,
    find: 'if (rows > 0) await adopt(parts, child, { incarnation, staging: directory });',
    replace: 'if (rows > 0) void 0;',
  },
];
