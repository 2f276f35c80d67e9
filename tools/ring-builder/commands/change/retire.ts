// ring-builder retire: stages the removal of ranges before a key, such as past months.
import { keyOfText, keyText } from '@ringwright/ring/partitioner/key-text';
import { type Command, textOption } from '../../cli/command.ts';
import { stageAndAnswer } from '../../versions/stage-command.ts';

export const command: Command = {
  options: {
    before: textOption(
      'drop ranges that end at this key or earlier; a range with later keys stays complete',
      {
        demandOption: true,
      },
    ),
  },
  examples: [
    ['$0 retire events --before 2026-06', 'drop the ranges before June'],
    [
      '$0 commit events -m "until May" --override "kept for a year"',
      'records are dropped, so a reason is needed',
    ],
  ],
  run: async (args, context) => {
    const ring = args.text('ring');
    const before = keyText(keyOfText(args.text('before')));
    const answer = await stageAndAnswer(context, ring, () => [{ kind: 'retire', before }]);
    const trash =
      'files of retired partitions stay in the trash for a week after the rollout: ' +
      'sqlite3 can read them, but no command restores them';
    const first = `to keep them, run ${context.next(`archive-data ${ring} …`)} before the commit`;
    return { ...answer, lines: [...answer.lines, trash, first] };
  },
};
