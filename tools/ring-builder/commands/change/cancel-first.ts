// Advice for a removal while moves to the removed device are in flight.
import { counted } from '@ringwright/base/counted';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { openRing } from '@ringwright/repository/open-ring';
import type { Answer, Context } from '../../cli/command.ts';
import { asCommands, commandsWithout } from '../../servers/gone-for-good.ts';

/**
 * Tells the operator at once to cancel moves to removed devices, which a commit would refuse later.
 */
export async function cancelFirst(
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
  const steps = asCommands([cancel, `commit ${name} -m TEXT`, `rollout ${name}`]);
  const first = `${counted(moves, 'move is', 'moves are')} in flight there and must end first`;
  return {
    ...answer,
    lines: [...answer.lines, `${first}: ring-builder rollout ${name} finishes them, or ${steps}`],
    next: context.next(cancel),
  };
}
