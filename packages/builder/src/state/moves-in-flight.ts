// Plans a second change during a running one: as if the first were complete, on other partitions.
// Pure.
// At most one slot of a partition changes at a time, so partitions with a move in flight must wait.

import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import type { Finding } from '@ringwright/base/finding';
import type { Ring } from '@ringwright/ring/ring';
import { copyTable } from '@ringwright/ring/slot-rows';
import type { BuilderState } from './builder-state.ts';
import { namedPartition } from './named-partition.ts';

export interface LandedHead {
  /** The ring after all moves in flight are finalized; the head itself when there are none. */
  readonly head: Ring;
  /** Partitions of the moves in flight. The plan moves other partitions instead. */
  readonly moving: ReadonlySet<number>;
}

/** Throws MOVES_IN_FLIGHT for a change that the moves in flight block, and names the reason. */
export function headAfterMoves(
  head: Ring,
  state: BuilderState,
  { direct }: { readonly direct: boolean },
): LandedHead {
  if (head.moves.length === 0) return { head, moving: new Set() };
  const { ring } = state;
  const rollout = `ring-builder rollout ${ring}`;
  const refuse = (reason: string, hint: string, details: object = {}): CodedError =>
    new CodedError(
      'MOVES_IN_FLIGHT',
      `version ${head.version} of ${ring} has ${counted(head.moves.length, 'move')} in flight: ${reason}`,
      { hint, details: { version: head.version, moves: head.moves.length, ...details } },
    );
  const waitHint = `run ${rollout}, or ring-builder moves ${ring} cancel all`;
  if (direct) throw refuse('--direct needs a ring without moves in flight', waitHint);
  const grows = head.moves.some(({ from }) => from === null);
  if (grows || state.replicas !== head.replicas) {
    throw refuse('a change of the replicas cannot be combined with moves', waitHint);
  }
  // Moves to devices that are to be removed must be finalized or cancelled first.
  const removedJoins = head.moves.filter(({ to }) => state.devices[to]?.state !== 'active');
  const [first] = removedJoins;
  if (first !== undefined) {
    const { to, assignment } = first;
    const id = namedPartition(state, first.partition);
    const names = [...new Set(removedJoins.map((move) => `d${move.to}`))].join(' ');
    const cancelCommands = [
      `ring-builder moves ${ring} cancel ${names}`,
      `ring-builder commit ${ring} -m 'will not come back'`,
      rollout,
    ].join(' && ');
    throw refuse(
      `partition ${id} is moving to d${to}, which is to be removed`,
      `run ${rollout} first; if ${names} will not come back: ${cancelCommands}`,
      { partition: id, assignment, device: to },
    );
  }
  const table = copyTable(head.table, head.devices.length);
  for (const { partition, replica, to } of head.moves) table[replica]![partition] = to;
  const moving = new Set(head.moves.map(({ partition }) => partition));
  return { head: { ...head, table, moves: [] }, moving };
}

export function inFlightFindings(moving: ReadonlySet<number>): Finding[] {
  if (moving.size === 0) return [];
  const message = `${counted(moving.size, 'partition')} already moving: left for later versions`;
  return [{ code: 'MOVES_IN_FLIGHT', message, details: { partitions: moving.size } }];
}

/** Returns `frozen` with the partitions of moves in flight marked too; null when none is frozen. */
export function frozenToo(
  frozen: Uint8Array | null,
  moving: ReadonlySet<number>,
  partitions: number,
): Uint8Array | null {
  if (moving.size === 0) return frozen;
  const all = frozen?.slice() ?? new Uint8Array(partitions);
  for (const partition of moving) all[partition] = 1;
  return all;
}
