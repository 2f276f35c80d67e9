// Lets holders that lost their files refill with what there is, where too few others are left.
import { CodedError } from '@ringwright/base/coded-error';
import { formatAddress } from '@ringwright/base/server-address';
import type { Ring } from '@ringwright/ring/ring';
import { slotsOf } from '@ringwright/ring/slots-of';
import { moveControl } from '@ringwright/wire/moves';
import { fanOut } from '../servers/fan-out.ts';
import { withServer } from '../servers/server-connection.ts';
import type { ControlOutcome } from './control-moves.ts';

const forceTimeoutMs = 10_000;

/**
 * Every device that the table gives one of the partitions is asked; those that refill none of them
 * know of none. Throws MOVE_UNKNOWN when nobody does and everybody answered.
 */
export async function forceRefills(
  ring: Ring,
  { partitions, reason }: { readonly partitions: readonly number[]; readonly reason: string },
): Promise<ControlOutcome[]> {
  const outcomes = await fanOut([...byHolder(ring, partitions)], async ([address, refills]) => {
    const request = { keyspace: ring.keyspace, action: 'force' as const, assignments: [] };
    try {
      const { known } = await withServer(address, (server) =>
        server.call(moveControl, { ...request, refills, reason }, forceTimeoutMs),
      );
      return { address, moves: known, known, reason: '' };
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
      return { address, moves: 0, known: 0, reason: error.message };
    }
  });
  if (outcomes.every(({ known, reason: why }) => known === 0 && why === '')) {
    const message = `no move brings partition ${partitions.join(', ')}, and no holder refills it`;
    throw new CodedError('MOVE_UNKNOWN', message, {
      hint: `ring-builder reconcile ${ring.keyspace}`,
      details: { ring: ring.keyspace, version: ring.version, partitions },
    });
  }
  return outcomes.filter(({ known, reason: why }) => known > 0 || why !== '');
}

function byHolder(ring: Ring, partitions: readonly number[]): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const partition of partitions) {
    for (const { device: id } of slotsOf(ring, partition)) {
      const device = ring.devices[id] ?? null;
      if (device === null) continue;
      const address = formatAddress(device);
      found.set(address, [...(found.get(address) ?? []), partition]);
    }
  }
  return found;
}
