// The commands that bring rings and records from elsewhere and take them there, of the table in
// verbs.ts.
import type { VerbEntry } from './cli/verb.ts';

export const exchange: readonly VerbEntry[] = [
  {
    usage: 'import-swift <ring> <file>',
    summary: 'a ring or builder file of OpenStack Swift as a new ring',
    load: () => import('./commands/exchange/import-swift.ts'),
  },
  {
    usage: 'export-swift <ring> <file> [version]',
    summary: 'a version as a ring or builder file of OpenStack Swift',
    load: () => import('./commands/exchange/export-swift.ts'),
  },
  {
    usage: 'import <ring>',
    summary: 'a ring in JSON, from a converter of another system',
    load: () => import('./commands/exchange/import.ts'),
  },
  {
    usage: 'archive-data <ring>',
    summary: 'the records of a ring, or of one partition, as a file',
    load: () => import('./commands/exchange/archive-data.ts'),
  },
  {
    usage: 'restore-data <ring>',
    summary: 'records of such a file back, into a ring of any shape',
    load: () => import('./commands/exchange/restore-data.ts'),
  },
];
