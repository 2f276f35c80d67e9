// ring-builder frontier: what each overload would gain and cost.

import { printTable } from '@ringwright/base/print-table';
import { overloadFrontier } from '@ringwright/builder/analysis/frontier';
import { requireNotComposed } from '@ringwright/builder/state/composition';
import { stagedState } from '@ringwright/repository/folder/builder-file';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { openRing } from '@ringwright/repository/open-ring';
import { parseNumber } from '../../cli/arguments.ts';
import { type Command, flagOption } from '../../cli/command.ts';
import { printBytes } from '../../cli/print-bytes.ts';
import { askSizes } from '../../plan/known-sizes.ts';
import { ringTargets } from '../../servers/ring-targets.ts';
import { lastPush } from '../../versions/last-push.ts';

export const command: Command = {
  positionals: {
    overloads: {
      describe: 'values to try, such as 0 0.05 0.1; default: the values that make a difference',
    },
  },
  options: {
    offline: flagOption('do not ask servers for sizes'),
  },
  examples: [
    ['$0 frontier cities', 'dispersion, fullest device and moved slots for several overloads'],
    ['$0 frontier cities 0 0.1 0.2', 'for these overloads'],
  ],
  run: async (args, context) => {
    const ring = args.text('ring');
    const opened = await openRing(context.rings, ring);
    requireNotComposed(opened.state);
    const head = opened.head === null ? null : await readVersion(context.rings, ring, 'head');
    const state = stagedState(opened);
    const overloads = args
      .texts('overloads')
      .map((one) => parseNumber(one, 'overload', 'overload'));
    const frontier = overloadFrontier(
      {
        head: head === null ? null : { ...head.ring, moves: [] },
        headId: head?.id ?? null,
        state,
      },
      overloads.length > 0 ? overloads : undefined,
    );
    const canAsk = !args.flag('offline') && head !== null && lastPush(opened.entries) !== null;
    const sizes = canAsk ? await askSizes(ring, ringTargets(head.ring, head.state)) : null;
    const mean = sizes?.meanBytes ?? null;
    const points = frontier.points.map((point) => {
      return { ...point, bytes: mean === null ? null : Math.round(mean * point.moves) };
    });
    const { required, recommended } = frontier;
    const isSet = recommended === state.overload;
    return {
      json: { ring, overload: state.overload, required, recommended, points },
      lines: [
        required === null
          ? `${ring}: no overload makes dispersion perfect; use more devices or other weights`
          : `${ring}: overload ${required} is the lowest one with perfect dispersion`,
        `recommended: ${recommended}${isSet ? ', the current setting' : `; the current setting is ${state.overload}`}`,
        '',
        ...printTable(points, [
          { head: 'OVERLOAD', cell: ({ overload }) => overload },
          { head: 'BEYOND CAP', cell: ({ beyondCapTotal }) => beyondCapTotal },
          { head: 'FULLEST', cell: ({ worstFill }) => `${(100 * worstFill).toFixed(1)} %` },
          { head: 'MOVES', cell: ({ moves }) => moves },
          { head: 'LATER', cell: ({ movesLeft }) => movesLeft },
          { head: 'BYTES', cell: ({ bytes }) => (bytes === null ? '?' : printBytes(bytes)) },
          { head: '', cell: (point) => markOf(point, recommended) },
        ]),
      ],
      next: context.next(isSet ? `dispersion ${ring}` : `set ${ring} --overload ${recommended}`),
    };
  },
};

function markOf(
  { overload, current }: { readonly overload: number; readonly current: boolean },
  recommended: number,
): string {
  return [
    ...(current ? ['current'] : []),
    ...(overload === recommended ? ['recommended'] : []),
  ].join(', ');
}
