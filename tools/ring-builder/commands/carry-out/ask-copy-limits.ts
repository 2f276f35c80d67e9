// What of a rollout may copy at once: servers are asked for sizes where bytes are limited.
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import { askSizes } from '../../plan/known-sizes.ts';
import { ringTargets } from '../../servers/ring-targets.ts';
import type { CopyLimits } from './rollout-step.ts';

/** A partition of which no server tells the size counts as the mean one, or it copies alone. */
export async function askCopyLimits(
  { ring, state }: StoredVersion,
  { movesMax, bytesMax }: { readonly movesMax: number; readonly bytesMax: number },
): Promise<CopyLimits> {
  const limits = { moves: movesMax, bytes: bytesMax };
  const begins = ring.moves.some((move) => move.state === 'PROPOSED');
  if (!begins || bytesMax === Number.POSITIVE_INFINITY) return { ...limits, bytesOf: () => 0 };
  const { partitionBytes, meanBytes } = await askSizes(ring.keyspace, ringTargets(ring, state));
  return { ...limits, bytesOf: (partition) => partitionBytes(partition) ?? meanBytes ?? bytesMax };
}
