// ring-builder retire: stages the removal of ranges before a key, such as past months.
import { keyOfText, keyText } from '@ringwright/ring/partitioner/key-text';
import { textOption, type Verb } from '../../cli/verb.ts';
import { stageAndAnswer } from '../../versions/stage-verb.ts';

export const verb: Verb = {
  options: {
    before: textOption('ranges that end here or earlier go; one that has later keys stays whole', {
      demandOption: true,
    }),
  },
  examples: [
    ['$0 retire events --before 2026-06', 'what lies before June goes, range by range'],
    ['$0 commit events --override "kept for a year"', 'given up are records: this needs a reason'],
  ],
  run: async (args, context) => {
    const ring = args.text('ring');
    const before = keyText(keyOfText(args.text('before')));
    const answer = await stageAndAnswer(context, ring, () => [{ kind: 'retire', before }]);
    const trash =
      'files of retired partitions lie in the trash for a week after the rollout: ' +
      'sqlite3 reads them, and no command restores them';
    const first = `to keep them: ${context.next(`archive-data ${ring} …`)} before the commit`;
    return { ...answer, lines: [...answer.lines, trash, first] };
  },
};
