// ring-builder unstage: forgets what is staged.
import { unstage } from '@ringwright/repository/stage-changes';
import { text } from '../arguments.ts';
import { authorOf } from '../stage-verb.ts';
import type { Verb } from '../verb.ts';

export const verb: Verb = {
  examples: [['$0 unstage cities', 'as if nothing had been staged since the last commit']],
  run: async (args, context) => {
    const ring = text(args, 'ring');
    const dropped = await unstage({ rings: context.rings, ring }, authorOf(context));
    return {
      json: { ring, dropped, changed: dropped.length > 0 },
      lines:
        dropped.length === 0
          ? ['nothing is staged']
          : dropped.map(({ command }) => `forgotten: ${command}`),
      next: context.next(`status ${ring}`),
    };
  },
};
