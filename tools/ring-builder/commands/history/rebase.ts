// ring-builder rebase: stages again, on the new head, what was staged on an older one.
import { rebaseRing } from '@ringwright/repository/rebase-ring';
import type { VersionId } from '@ringwright/ring/audit/ring-candidate';
import { type Command, flagOption, textOption } from '../../cli/command.ts';
import { authorOf } from '../../versions/stage-command.ts';

export const command: Command = {
  options: {
    onto: textOption('rings folder of the other operator; first fetch its newer versions'),
    drop: flagOption('leave out commands that no longer fit'),
  },
  examples: [
    ['$0 rebase cities', 'after git pulled a newer log and versions into this folder'],
    ['$0 rebase cities --onto ../theirs/rings', 'with the history of another folder'],
  ],
  run: async (args, context) => {
    const ring = args.text('ring');
    const request = { upstream: args.optionalText('onto') ?? null, drop: args.flag('drop') };
    const done = await rebaseRing({ rings: context.rings, ring }, authorOf(context), request);
    const { from, onto, staged, refused, fetched } = done;
    const changed = from?.id !== onto?.id;
    const remaining = staged.filter(({ changes }) => changes.length > 0);
    return {
      json: { ring, from, onto, fetched, staged: remaining, refused, changed },
      lines: [
        movedLine(ring, from, onto),
        fetched.length > 0 &&
          `fetched version${fetched.length === 1 ? '' : 's'} ${fetched.join(', ')}`,
        ...remaining.map(({ command }) => `staged again: ${command}`),
        ...refused.map(({ command, reason }) => `left out: ${command}: ${reason}`),
      ],
      next: context.next(remaining.length > 0 ? `plan ${ring}` : `status ${ring}`),
    };
  },
};

function movedLine(ring: string, from: VersionId | null, onto: VersionId | null): string {
  if (onto === null) return `${ring} has no versions yet, so nothing needs a rebase`;
  if (from === null) return `${ring}: from a new ring onto version ${onto.version}`;
  if (from.id !== onto.id)
    return `${ring}: from version ${from.version} onto version ${onto.version}`;
  return `${ring}: the staged changes are already based on the head, version ${onto.version}`;
}
