// Stages a merge, or first the moves that bring its partitions together.
import { isDeepStrictEqual } from 'node:util';
import { gatherPins } from '@ringwright/builder/plan/gather-pins';
import { applyChanges } from '@ringwright/builder/state/apply-changes';
import type { Change } from '@ringwright/builder/state/change';
import { headOf, readLog } from '@ringwright/repository/folder/read-log';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { isIntervals } from '@ringwright/ring/partitioner/partitioner';
import type { Answer, Context } from '../cli/command.ts';
import { stageAndAnswer } from './stage-command.ts';

/** `again`: the command that stages the merge once the partitions are together. */
export async function stageReshape(
  context: Context,
  ring: string,
  { change, again }: { readonly change: Change; readonly again: string },
): Promise<Answer> {
  const isNew = headOf(await readLog(context.rings, ring)) === null;
  const head = isNew ? null : (await readVersion(context.rings, ring, 'head')).ring;
  let pinned = 0;
  const answer = await stageAndAnswer(context, ring, (state) => {
    const { partitioner } = applyChanges(state, [change]);
    if (head === null || !isIntervals(partitioner)) return [change];
    const pins = gatherPins(head, state, partitioner);
    pinned = pins.length;
    if (pinned === 0) return [change];
    const open = pins.filter((pin) => !state.pins?.some((one) => isDeepStrictEqual(one, pin)));
    return open.map((pin) => ({ kind: 'pin', pin }));
  });
  if (pinned === 0) return answer;
  const first = 'the partitions to merge are on different devices: these pins move them together';
  const repeatLine = `after the rollout, repeat: ${context.next(again)}`;
  return { ...answer, lines: [...answer.lines, first, repeatLine] };
}
