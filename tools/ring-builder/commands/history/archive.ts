// ring-builder archive: moves old versions to another folder; the log and its chain stay.
import { resolve } from 'node:path';
import { text } from '../../cli/arguments.ts';
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
  run: (args, context) => pruneAndAnswer(args, context, resolve(text(args, 'to'))),
};
