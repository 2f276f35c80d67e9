// ring-builder archive: moves old versions to another folder; the log and its chain stay.
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text, usage } from '../../cli/arguments.ts';
import { textOption } from '../../cli/option-forms.ts';
import type { Verb } from '../../cli/verb.ts';
import { keepOption, pruneAndAnswer } from './prune.ts';

export const verb: Verb = {
  options: {
    keep: keepOption,
    to: textOption('folder that gets them, in a folder of the name of the ring', {
      demandOption: true,
    }),
  },
  examples: [['$0 archive cities --keep 50 --to /backup/rings', 'all but the newest 50 versions']],
  run: async (args, context) => {
    const to = resolve(text(args, 'to'));
    // What lies beside the versions of a ring is nobody's there.
    if ((await realPath(to)) === (await realPath(context.rings))) {
      throw usage(`--to ${to} is the folder of rings itself`, 'name a folder outside of it');
    }
    return pruneAndAnswer(args, context, to);
  },
};

/** Of one that is not there yet: as it is. */
function realPath(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}
