// All seeded bugs. Pure.
import { archiveBugs } from './archive-bugs.ts';
import { durabilityBugs } from './durability-bugs.ts';
import { orderBugs } from './order-bugs.ts';
import { quorumBugs } from './quorum-bugs.ts';
import { repairBugs } from './repair-bugs.ts';
import { ringBugs } from './ring-bugs.ts';
import type { SeededBug } from './seeded-bug.ts';
import { splitBugs } from './split-bugs.ts';

export const seededBugs: readonly SeededBug[] = [
  ...durabilityBugs,
  ...quorumBugs,
  ...orderBugs,
  ...repairBugs,
  ...ringBugs,
  ...splitBugs,
  ...archiveBugs,
];
