// Asks the servers for the sizes of a ring's partitions now, in the form that a builder state
// keeps.
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import type { BuilderState, PartitionSizes } from '@ringwright/builder/state/builder-state';
import { partitionSizes } from '@ringwright/builder/state/partition-sizes';
import { readVersion } from '@ringwright/repository/folder/read-version';
import type { Ring } from '@ringwright/ring/ring';
import { MS_PER_HOUR } from '../cli/hours.ts';
import type { Context } from '../cli/verb.ts';
import { ringTargets } from '../servers/ring-targets.ts';
import { withHint } from '../servers/server-connection.ts';
import { serverStatus } from '../servers/server-status.ts';
import { stateOf } from '../versions/state-of-version.ts';
import { type AskedSizes, askSizes } from './known-sizes.ts';

/** Throws RING_UNKNOWN, and PEER_UNREACHABLE if no server answers. */
export async function measureSizes(
  { rings, nowMs }: Context,
  ring: string,
  swapBudget: number,
): Promise<PartitionSizes> {
  const head = await readVersion(rings, ring, 'head');
  const { valueBytes } = await requireSizes(head.ring, stateOf(head));
  const bytes = Array.from({ length: head.ring.partitions }, (_, id) => valueBytes(id));
  const measuredHour = Math.floor(nowMs() / MS_PER_HOUR);
  return partitionSizes(bytes, {
    measuredHour,
    ...(swapBudget > 0 && { swapBudget }),
  });
}

/** Throws PEER_UNREACHABLE if no server answers, or the error of the first server. */
export async function requireSizes(ring: Ring, state: BuilderState): Promise<AskedSizes> {
  const targets = ringTargets(ring, state);
  const known = await askSizes(ring.keyspace, targets);
  if (known.answered > 0) return known;
  const hint = `ring-builder servers ${ring.keyspace} says why`;
  // The first server's own error says more, such as a missing token.
  for (const { address } of targets.slice(0, 1)) {
    await serverStatus(address).catch((error: unknown) => {
      throw withHint(error, hint);
    });
  }
  const who = `none of ${counted(known.asked, 'server')} of ${ring.keyspace}`;
  const message = `${who} says how large its partitions are`;
  throw new CodedError('PEER_UNREACHABLE', message, {
    hint,
    details: { ring: ring.keyspace, asked: known.asked },
  });
}
