// ring-builder remove: stages devices to leave.
import { counted } from '@ringwright/base/counted';
import type { Change } from '@ringwright/builder/state/change';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { openRing } from '@ringwright/repository/open-ring';
import { text, texts } from '../../cli/arguments.ts';
import type { Answer, Context, Verb } from '../../cli/verb.ts';
import { asCommands, commandsWithout } from '../../servers/gone-for-good.ts';
import { deviceIdsOf, devicesHelp } from '../../versions/device-reference.ts';
import { stageAndAnswer } from '../../versions/stage-verb.ts';

export const verb: Verb = {
  positionals: { devices: { describe: devicesHelp } },
  examples: [
    ['$0 remove cities d3', 'by device id'],
    ['$0 remove cities 10.0.0.1:6200/sdb', 'by address; set-weight 0 drains more gently'],
    ['$0 remove cities r1z2,weight=0', 'all drained devices of a zone'],
  ],
  run: async (args, context) => {
    const ring = text(args, 'ring');
    const removed: number[] = [];
    const answer = await stageAndAnswer(context, ring, (state) =>
      deviceIdsOf(state, texts(args, 'devices')).map((id): Change => {
        removed.push(id);
        return { kind: 'remove', id };
      }),
    );
    return cancelFirst(context, { ring, removed, answer });
  },
};

/** A commit would be refused while moves are on their way to what is removed: said at once. */
async function cancelFirst(
  context: Context,
  staged: {
    readonly ring: string;
    readonly removed: readonly number[];
    readonly answer: Answer;
  },
): Promise<Answer> {
  const { ring: name, removed, answer } = staged;
  if ((await openRing(context.rings, name)).head === null) return answer;
  const { ring } = await readVersion(context.rings, name, 'head');
  const moves = ring.moves.filter(({ to }) => removed.includes(to)).length;
  if (moves === 0) return answer;
  const [cancel] = commandsWithout(ring, removed);
  const then = asCommands([cancel, `commit ${name} -m TEXT`, `rollout ${name}`]);
  const first = `${counted(moves, 'move is', 'moves are')} on their way there, and come first`;
  return {
    ...answer,
    lines: [...answer.lines, `${first}: ring-builder rollout ${name} ends them, or ${then}`],
    next: context.next(cancel),
  };
}
