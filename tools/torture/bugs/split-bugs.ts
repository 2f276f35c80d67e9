// Bugs of splits and merges: what a child has to hear of, and when. Pure.
import { splitsAndMerges } from '../nemeses/ring-scenarios.ts';
import type { SeededBug } from './seeded-bug.ts';

const fillChild = 'packages/server/src/moves/fill-child.ts';

export const splitBugs: readonly SeededBug[] = [
  {
    name: 'written-only-to-parent',
    about: 'writes that come while a partition is split go to the parent alone',
    nemeses: [splitsAndMerges],
    patches: [
      {
        file: 'packages/partition/src/parts/mirrors.ts',
        find: 'if (phase === undefined) return null;',
        replace: 'return null;',
      },
    ],
  },
  {
    name: 'child-before-writes-end',
    about: 'a child hears of writes only when it has the rows, and rows are older than that',
    nemeses: [splitsAndMerges],
    patches: [
      {
        file: fillChild,
        find: "store.children.mirror(place, from, 'all');",
        replace: '',
      },
    ],
  },
  {
    name: 'child-without-rows',
    about: 'a child begins empty, and says that it has what its parents had',
    nemeses: [splitsAndMerges],
    patches: [
      {
        file: fillChild,
        find: 'for (const parent of parents) await giveRows(ports, { task, parent, isOfChild });',
        replace: '',
      },
    ],
  },
  {
    name: 'parent-kept',
    about: 'a parent stays when its children have everything',
    nemeses: [splitsAndMerges],
    patches: [
      {
        file: 'packages/server/src/moves/plan-duties.ts',
        find: 'if (isNeeded(partition)) continue;',
        replace: 'if (isNeeded(partition) || active.ring.reshape) continue;',
      },
    ],
  },
];
