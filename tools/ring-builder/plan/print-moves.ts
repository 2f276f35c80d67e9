// Prints what a plan moves, slot by slot. Pure.

import { counted } from '@ringwright/base/counted';
import { printTable } from '@ringwright/base/print-table';
import type { Plan } from '@ringwright/builder/plan/plan';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import type { Lines } from '../cli/command.ts';
import { nameDevice } from '../versions/device-reference.ts';

/** Limit for text and --json. The digest of the plan covers longer lists. */
export const movesListedMax = 10_000;

/** Prints wave by wave, sorted by partition, as planned. */
export function printMoves(
  { moves: first, later }: Pick<Plan, 'moves' | 'later'>,
  state: BuilderState,
): Lines {
  const waves = [first, ...later];
  const moves = waves.flatMap((wave, at) => wave.map((move) => ({ ...move, wave: at + 1 })));
  if (moves.length === 0) return ['', 'no partition moves'];
  const name = (id: number | null): string => {
    if (id === null) return 'new slot';
    const device = state.devices[id];
    return device ? nameDevice(device) : `d${id}`;
  };
  const hidden = moves.length - movesListedMax;
  return [
    '',
    ...printTable(moves.slice(0, movesListedMax), [
      ...(later.length > 0 ? [{ head: 'WAVE', cell: ({ wave }: { wave: number }) => wave }] : []),
      { head: 'PARTITION', cell: ({ partition }) => partition },
      { head: 'REPLICA', cell: ({ replica }) => replica },
      { head: 'FROM', cell: ({ from }) => name(from) },
      { head: 'TO', cell: ({ to }) => name(to) },
    ]),
    hidden > 0 &&
      `… and ${counted(hidden, 'move')} more: after the commit, ring-builder moves RING list --json lists all that the version notes`,
  ];
}
