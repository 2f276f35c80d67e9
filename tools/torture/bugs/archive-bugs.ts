// Bugs of archives: their content after a death, and what a restore overwrites. Pure.

import { archive } from '../nemeses/archive.ts';
import type { SeededBug } from './seeded-bug.ts';

const exchange = 'tools/ring-builder/commands/exchange';

export const archiveBugs: readonly SeededBug[] = [
  {
    name: 'archive-goes-on-too-far',
    about: 'where an archive goes on counts records that its file does not have yet',
    nemeses: [archive],
    file: `${exchange}/archive-data.ts`,
    find: 'if (!isWritten || bytes - savedBytes < archiveProgressBytes) continue;',
    replace: 'void isWritten; void archiveProgressBytes;',
  },
  {
    name: 'restore-over-newer',
    about: 'a record of an archive takes the place of one that was written after it',
    nemeses: [archive],
    file: `${exchange}/restore-data.ts`,
    find: "if (held !== null && compareStamps(held, record) >= 0) return 'kept';",
    replace: 'void compareStamps;',
  },
];
