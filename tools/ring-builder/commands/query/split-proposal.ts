// Turns a split or merge proposal into its reason and the command that stages it.
import { counted } from '@ringwright/base/counted';
import { quoteOption } from '@ringwright/base/quote-command';
import type { ReshapeProposal } from '@ringwright/builder/analysis/propose-splits';
import { gatherPins } from '@ringwright/builder/plan/gather-pins';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import type { Change } from '@ringwright/builder/state/change';
import { requireIntervals } from '@ringwright/builder/state/reshaped-by';
import { positionText } from '@ringwright/ring/partitioner/hash-ends';
import type { IntervalPartitioner } from '@ringwright/ring/partitioner/partitioner';
import { mergeIntervals } from '@ringwright/ring/partitioner/reshape';
import { deviceIn, type Ring } from '@ringwright/ring/ring';
import { printBytes } from '../../cli/print-bytes.ts';
import { ringTargets } from '../../servers/ring-targets.ts';
import { serverStatus } from '../../servers/server-status.ts';

export interface Head {
  readonly ring: Ring;
  readonly state: BuilderState;
}

export interface Proposal {
  readonly why: string;
  /**
   * Null if it cannot be staged directly. A merge of partitions on different devices moves first.
   */
  readonly change: Change | null;
  /** The command to type, or the obstacle. */
  readonly command: string;
  readonly proposal: ReshapeProposal;
}

export async function proposalOf(
  head: Head,
  proposal: ReshapeProposal,
  { above, below }: { readonly above: number; readonly below: number },
): Promise<Proposal> {
  if (proposal.kind === 'merge') return mergeOf(head, proposal, below);
  const { keyspace } = head.ring;
  const { partition } = proposal;
  const why = whySplit(proposal, above);
  const middle = await middleOf(head.ring, partition);
  if (middle === null)
    return { proposal, why, change: null, command: 'no holder found two keys to split between' };
  if (Math.min(middle.share, 1 - middle.share) < unevenShare) {
    const command = 'nearly all sampled records have one key or one tag: no even split is known';
    return { proposal, why, change: null, command };
  }
  const { at } = middle;
  const typed = typeof at === 'number' ? positionText(at) : at;
  const command = `ring-builder split ${keyspace} ${partition} ${quoteOption('at', typed)}`;
  return { proposal, why, command, change: { kind: 'split', partition, at: [at] } };
}

function mergeOf(
  head: Head,
  proposal: Extract<ReshapeProposal, { kind: 'merge' }>,
  below: number,
): Proposal {
  const { ring, state } = head;
  const { partitions } = proposal;
  const merged = mergeIntervals(intervalsIn(head), ...partitions);
  const isApart = gatherPins(ring, state, merged).length > 0;
  const sizes = `${printBytes(proposal.bytes)} together, below ${printBytes(below)} each`;
  const apartText = isApart ? ', on different devices; this command moves them together first' : '';
  return {
    proposal,
    why: `partitions ${partitions.join(' and ')} have ${sizes}${apartText}`,
    command: `ring-builder merge ${ring.keyspace} ${partitions.join(' ')}`,
    change: isApart ? null : { kind: 'merge', partitions },
  };
}

function whySplit(
  { partition, bytes, busy: rates }: Extract<ReshapeProposal, { kind: 'split' }>,
  above: number,
): string {
  if (rates === null) {
    return `partition ${partition} has ${printBytes(bytes)}, above ${printBytes(above)}`;
  }
  const [rate, mean] = [Math.round(rates.rate), Math.round(rates.mean)];
  return `partition ${partition} gets ${counted(rate, 'request')} a second, the average partition ${mean}`;
}

/** A split whose smaller part has less than this share is not worthwhile. */
const unevenShare = 0.05;

async function middleOf(ring: Ring, partition: number) {
  const holders = new Set(ring.table.map((row) => deviceIn(row, partition)));
  const targets = ringTargets(ring, null).filter(({ devices }) =>
    devices.some((id) => holders.has(id)),
  );
  for (const { address } of targets) {
    const status = await serverStatus(address, { middleOf: `${ring.keyspace}/${partition}` }).catch(
      () => null,
    );
    if (status?.middle) return status.middle;
  }
  return null;
}

export function intervalsIn({ ring, state }: Head): IntervalPartitioner {
  return requireIntervals({ ...state, partitioner: ring.partitioner });
}
