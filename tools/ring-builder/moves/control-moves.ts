// Sends an operator's commands on moves to the joiners, and to holders that lost their files.
import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import { getOrMake } from '@ringwright/base/get-or-make';
import { formatAddress } from '@ringwright/base/server-address';
import type { Move } from '@ringwright/ring/move';
import type { Ring } from '@ringwright/ring/ring';
import { slotsOf } from '@ringwright/ring/slots-of';
import type { RequestOf } from '@ringwright/wire/message';
import { type MoveAction, moveControl } from '@ringwright/wire/moves';
import { fanOut, withServer } from '../servers/server-connection.ts';

export interface ControlOutcome {
  readonly address: string;
  readonly moves: number;
  /** Moves that the server knows: fewer than were named if it has another version. */
  readonly known: number;
  /** Why the server did not receive the command; empty if it did. */
  readonly reason: string;
}

/** The longest time a server needs to store so many moves durably. */
const controlTimeoutMs = 10_000;

/** Asks every joiner once. The outcome names the unreachable ones with the reason. */
export async function controlMoves(
  ring: Ring,
  {
    action,
    moves,
    reason,
  }: {
    readonly action: MoveAction;
    readonly moves: readonly Move[];
    /** Only for `force`. */
    readonly reason: string | null;
  },
): Promise<ControlOutcome[]> {
  return fanOut([...byJoiner(ring, moves)], async ([address, assignments]) => {
    const request = { keyspace: ring.keyspace, action, assignments, reason };
    return { address, moves: assignments.length, ...(await control(address, request)) };
  });
}

/**
 * Lets holders that lost their files refill with the records that are left, when too few other
 * holders have complete files. Asks every device that the table gives one of the partitions, and
 * omits those that refill none of them.
 */
export async function forceRefills(
  ring: Ring,
  { partitions, reason }: { readonly partitions: readonly number[]; readonly reason: string },
): Promise<ControlOutcome[]> {
  const outcomes = await fanOut([...byHolder(ring, partitions)], async ([address, refills]) => {
    const request = { keyspace: ring.keyspace, action: 'force' as const, assignments: [] };
    const answer = await control(address, { ...request, refills, reason });
    return { address, moves: answer.known, ...answer };
  });
  return outcomes.filter(({ known, reason: why }) => known > 0 || why !== '');
}

async function control(
  address: string,
  request: RequestOf<typeof moveControl>,
): Promise<Pick<ControlOutcome, 'known' | 'reason'>> {
  const answer = await resultOrError(
    withServer(address, (server) => server.call(moveControl, request, controlTimeoutMs)),
  );
  return answer instanceof CodedError
    ? { known: 0, reason: answer.message }
    : { known: answer.known, reason: '' };
}

/** Returns assignment ids by the address of the joining server. */
export function byJoiner(
  ring: Pick<Ring, 'devices'>,
  moves: readonly Move[],
): Map<string, number[]> {
  return byAddress(
    ring,
    moves.map(({ to, assignment }) => [to, assignment]),
  );
}

function byHolder(ring: Ring, partitions: readonly number[]): Map<string, number[]> {
  const slots = partitions.flatMap((partition) =>
    slotsOf(ring, partition).map(({ device }) => [device, partition] as const),
  );
  return byAddress(ring, slots);
}

/** Groups the second numbers of the pairs by the address of the device's server. */
function byAddress(
  { devices }: Pick<Ring, 'devices'>,
  pairs: readonly (readonly [device: number, what: number])[],
): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const [id, what] of pairs) {
    const device = devices[id] ?? null;
    if (device === null) continue;
    const address = formatAddress(device);
    getOrMake(found, address, () => []).push(what);
  }
  return found;
}
