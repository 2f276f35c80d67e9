// Asks the servers of a ring for the state of its moves.
import type { CodedError } from '@ringwright/base/coded-error';
import type { Ring } from '@ringwright/ring/ring';
import type { Target } from '../servers/ring-targets.ts';
import { connectTimeoutMs, fanOut } from '../servers/server-connection.ts';
import { type RingStatus, ringStatus } from '../servers/server-status.ts';
import type { StatusByDevice } from './move-rows.ts';

/**
 * Time of an answer for each move, whose load a server reports: 43,690 are 9 MB, and took up to
 * 13 s on a busy machine. With less, a rollout that progresses would look like one that stalls.
 */
const ANSWER_MS_PER_MOVE = 0.25;

function movesTimeoutMs({ moves }: Pick<Ring, 'moves'>): number {
  return connectTimeoutMs + Math.ceil(moves.length * ANSWER_MS_PER_MOVE);
}

/** Servers whose devices were all removed may be gone, so their missing answers are left out. */
export async function askMoves(
  ring: Pick<Ring, 'keyspace' | 'moves'>,
  targets: readonly Target[],
): Promise<StatusByDevice> {
  const timeoutMs = movesTimeoutMs(ring);
  return statusByDevice(
    targets,
    await fanOut(targets, ({ address }) => ringStatus(address, ring.keyspace, timeoutMs)),
  );
}

/** `statuses`: in the order of `targets`; undefined: not asked. Pure. */
export function statusByDevice(
  targets: readonly Target[],
  statuses: readonly (RingStatus | CodedError | undefined)[],
): StatusByDevice {
  const byDevice = new Map<number, RingStatus | CodedError>();
  for (const [index, { devices, required }] of targets.entries()) {
    const status = statuses[index];
    if (status === undefined || (status instanceof Error && !required)) continue;
    for (const device of devices) {
      // A server serves one device; it does not answer for others that the ring names at its
      // address.
      if (status instanceof Error || status.device === device) byDevice.set(device, status);
    }
  }
  return byDevice;
}
