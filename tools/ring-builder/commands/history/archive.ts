// ring-builder archive: moves old versions to another folder; the log and its chain stay.
import { realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { exists } from '@ringwright/node/missing-file';
import { ringFolder } from '@ringwright/repository/folder/ring-folder';
import { usage } from '../../cli/arguments.ts';
import { type Command, textOption } from '../../cli/command.ts';
import { keepOption, pruneAndAnswer } from './prune.ts';

export const command: Command = {
  options: {
    keep: keepOption,
    to: textOption('destination, in which a folder with the name of the ring is used', {
      demandOption: true,
    }),
  },
  examples: [
    ['$0 archive cities --keep 50 --to /backup/rings', 'archive all but the newest 50 versions'],
  ],
  run: async (args, context) => {
    const to = resolve(args.text('to'));
    await requireElsewhere(to, context.rings, args.text('ring'));
    return pruneAndAnswer(args, context, to);
  },
};

/**
 * Throws USAGE if `to` is inside the rings folder, where verify would report the files, or is a
 * folder of rings with this ring.
 */
async function requireElsewhere(to: string, rings: string, ring: string): Promise<void> {
  const inside = relative(await realPath(resolve(rings)), await realPath(to));
  if (inside === '') {
    throw usage(`--to ${to} is the folder of rings itself`, 'name a folder outside it');
  }
  // No ring name begins with a dot.
  if (!inside.startsWith('.')) {
    throw usage(`--to ${to} is inside the folder of rings`, 'name a folder outside it');
  }
  if (!(await exists(ringFolder(to, ring).builder))) return;
  throw usage(`--to ${to} is a folder of rings with a ring ${ring}`, 'name another folder');
}

/** Resolves a path that may not exist yet, through its nearest existing parent. */
async function realPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    return dirname(path) === path ? path : join(await realPath(dirname(path)), basename(path));
  }
}
