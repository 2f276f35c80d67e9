// ring-builder stores: shows or changes the ring stores of a ring whose head is in a store.

import { printTable } from '@ringwright/base/print-table';
import { quoteCommand } from '@ringwright/base/quote-command';
import { changeRingStores, ringStoreStates } from '@ringwright/repository/ring-stores';
import { usage } from '../../cli/arguments.ts';
import type { Command } from '../../cli/command.ts';
import { authorOf } from '../../versions/stage-command.ts';

export const command: Command = {
  positionals: {
    folders: { describe: 'all ring stores from now on; without any: only show them' },
  },
  examples: [
    ['$0 stores cities', 'which ring stores have the head, and which are behind, damaged or away'],
    [
      '$0 stores cities /srv/a /srv/b /srv/d',
      'd replaces c, after it has caught up; damaged files are stored again',
    ],
  ],
  run: async (args, context) => {
    const ring = args.text('ring');
    const folders = args.texts('folders');
    const place = { rings: context.rings, ring };
    if (folders.length > 0) await changeRingStores(place, authorOf(context), folders);
    const found = await ringStoreStates(context.rings, ring);
    if (found === null) {
      throw usage(
        `${ring} has no head in a store`,
        'commit with --store etcd://HOST:PORT,… and --ring-stores DIR,DIR,DIR',
      );
    }
    const { record, stores } = found;
    const { version, id, sequence, transaction } = record;
    const current = stores.filter(({ state }) => state === 'current').length;
    const isDamaged = stores.some(({ state }) => state === 'damaged');
    const again = ['stores', ring, ...stores.map(({ store }) => store)];
    return {
      json: { ring, version, id, sequence, transaction, stores, changed: folders.length > 0 },
      lines: [
        `${ring} version ${version} (${id.slice(0, 12)}), transaction ${sequence}`,
        ...printTable(stores, [
          { head: 'RING STORE', cell: ({ store }) => store },
          { head: 'STATE', cell: ({ state }) => state },
        ]),
      ],
      // Naming the same stores again repairs them.
      ...(isDamaged && { next: context.next(quoteCommand(again)) }),
      exit: 2 * current > stores.length ? 0 : 1,
    };
  },
};
