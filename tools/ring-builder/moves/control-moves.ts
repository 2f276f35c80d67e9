// Tells the joiners of moves what an operator wants of them.
import { CodedError } from '@ringwright/base/coded-error';
import { formatAddress } from '@ringwright/base/server-address';
import type { Move } from '@ringwright/ring/move';
import type { Ring } from '@ringwright/ring/ring';
import { type MoveAction, moveControl } from '@ringwright/wire/moves';
import { fanOut } from '../servers/fan-out.ts';
import { withServer } from '../servers/server-connection.ts';

export interface ControlOutcome {
  readonly address: string;
  readonly moves: number;
  /** Moves that the server knows; fewer than were named when it has another version. */
  readonly known: number;
  /** Why it did not hear of it; empty when it did. */
  readonly reason: string;
}

/** A joiner takes a durable note of so many moves in this time at most. */
const controlTimeoutMs = 10_000;

/** Every joiner is asked once; who cannot be reached is in the outcome, with the reason. */
export async function controlMoves(
  ring: Ring,
  {
    action,
    moves,
    reason,
  }: {
    readonly action: MoveAction;
    readonly moves: readonly Move[];
    /** Of force only. */
    readonly reason: string | null;
  },
): Promise<ControlOutcome[]> {
  return fanOut([...byJoiner(ring, moves)], async ([address, assignments]) => {
    const request = { keyspace: ring.keyspace, action, assignments, reason };
    try {
      const { known } = await withServer(address, (server) =>
        server.call(moveControl, request, controlTimeoutMs),
      );
      return { address, moves: assignments.length, known, reason: '' };
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
      return { address, moves: assignments.length, known: 0, reason: error.message };
    }
  });
}

/** Assignment ids by the address of the server that joins. */
export function byJoiner(
  { devices }: Pick<Ring, 'devices'>,
  moves: readonly Move[],
): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const { to, assignment } of moves) {
    const device = devices[to] ?? null;
    if (device === null) continue;
    const address = formatAddress(device);
    found.set(address, [...(found.get(address) ?? []), assignment]);
  }
  return found;
}
