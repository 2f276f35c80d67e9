// ring-builder prune: deletes old versions; the log and its chain stay.
import { CodedError } from '@ringwright/base/coded-error';
import { text } from '../../cli/arguments.ts';
import type { Verb } from '../../cli/verb.ts';
import { keepOption, pruneAndAnswer } from './prune-verb.ts';

export const verb: Verb = {
  options: { keep: keepOption },
  examples: [['$0 prune cities --keep 50 --yes', 'deletes all but the newest 50 versions']],
  run: async (args, context) => {
    if (context.yes) return pruneAndAnswer(args, context, null);
    const ring = text(args, 'ring');
    throw new CodedError('CONFIRMATION_NEEDED', `prune deletes versions of ${ring} for good`, {
      hint: `ring-builder archive ${ring} --keep N --to DIR keeps them; or add --yes`,
      details: { ring },
    });
  },
};
