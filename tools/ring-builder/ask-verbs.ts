// The commands that ask a ring, of the table in verbs.ts.
import type { VerbEntry } from './cli/verb.ts';

export const ask: readonly VerbEntry[] = [
  {
    usage: 'why <ring> <what>',
    summary: 'which rule placed a slot, which version moved it, what blocks it',
    load: () => import('./commands/ask/why.ts'),
  },
  {
    usage: 'lookup <ring> [keys..]',
    summary: 'partition, devices in order and handoffs of keys',
    load: () => import('./commands/look/lookup.ts'),
  },
  {
    usage: 'search <ring> <devices..>',
    summary: 'the devices that a selector means, with what they hold',
    load: () => import('./commands/look/search.ts'),
  },
  {
    usage: 'list-parts <ring> <devices..>',
    summary: 'the partitions that devices hold, with how many replicas',
    load: () => import('./commands/look/list-parts.ts'),
  },
  {
    usage: 'splits <ring>',
    summary: 'partitions that are too large or too small, and what to type',
    load: () => import('./commands/ask/splits.ts'),
  },
  {
    usage: 'balance <ring> [version]',
    summary: 'shares against slots held, per tier and device',
    load: () => import('./commands/ask/balance.ts'),
  },
  {
    usage: 'dispersion <ring> [version]',
    summary: 'how replicas lie in regions, zones and servers',
    load: () => import('./commands/ask/dispersion.ts'),
  },
  {
    usage: 'drill <ring> <tier> <names..>',
    summary: 'what a failure would do, on paper',
    load: () => import('./commands/ask/drill.ts'),
  },
  {
    usage: 'table <ring> [version]',
    summary: 'the whole table: partitions to devices',
    load: () => import('./commands/look/table.ts'),
  },
];
