// The limits on concurrent copies of a rollout. Asks servers for sizes if bytes are limited.
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import type { Arguments } from '../../cli/arguments.ts';
import { textOption } from '../../cli/command.ts';
import { parseBytes } from '../../cli/print-bytes.ts';
import { askSizes, type ReportedSizes } from '../../plan/known-sizes.ts';
import { ringTargets } from '../../servers/ring-targets.ts';
import type { CopyLimits } from './rollout-step.ts';

export const maxBytesOption = textOption(
  'most bytes to copy at once, such as 2GiB; a larger partition is copied alone',
);

/** Returns the value of --max-bytes, or Infinity without it. Throws USAGE. */
export function bytesAtOnce(args: Arguments): number {
  const typed = args.optionalText('max-bytes');
  return typed === undefined ? Number.POSITIVE_INFINITY : parseBytes(typed, '--max-bytes');
}

/** A partition of unknown size counts as the mean size; without a mean it copies alone. */
export async function askCopyLimits(
  { ring, state }: StoredVersion,
  { movesMax, bytesMax }: { readonly movesMax: number; readonly bytesMax: number },
): Promise<CopyLimits> {
  const limits = { moves: movesMax, bytes: bytesMax };
  const hasProposed = ring.moves.some((move) => move.state === 'PROPOSED');
  if (!hasProposed || bytesMax === Number.POSITIVE_INFINITY) return { ...limits, bytesOf: () => 0 };
  const sizes = await askSizes(ring.keyspace, ringTargets(ring, state));
  return { ...limits, bytesOf: bytesOf(sizes, bytesMax) };
}

export function bytesOf(
  { partitionBytes, meanBytes }: Pick<ReportedSizes, 'partitionBytes' | 'meanBytes'>,
  bytesMax: number,
): CopyLimits['bytesOf'] {
  return (partition) => partitionBytes(partition) ?? meanBytes ?? bytesMax;
}
