// Lists what a device has to do so that its files match a ring, for the reconciler. Pure.
import type { PartitionState } from '@ringwright/partition/file/partition-info';
import { dutyKindOf } from '@ringwright/ring/duty-of';
import type { Move } from '@ringwright/ring/move';
import { reshapeMappingOf } from '@ringwright/ring/reshape-ring';
import { type ActiveRing, activeDuties } from '../rings/active-ring.ts';

export type DutyStep =
  /** The table names this device and there is no file: begin empty or refill, as the peers say. */
  | { readonly kind: 'open'; readonly partition: number }
  /** A move is PROPOSED: take writes, which stay in the log until the copy has come. */
  | { readonly kind: 'accept'; readonly partition: number; readonly move: Move }
  /** A move is INITIALIZING: copy, merge, catch up. */
  | { readonly kind: 'load'; readonly partition: number; readonly move: Move }
  /** The table names this device and its file lacks records. */
  | { readonly kind: 'refill'; readonly partition: number }
  /** A loaded move was finalized: serve reads too. */
  | { readonly kind: 'serve'; readonly partition: number }
  /** No slot is on this device any more: hand everything to the holders, then drop the file. */
  | { readonly kind: 'drain'; readonly partition: number };

export interface Holdings {
  /** State of the files here, by partition. */
  readonly states: ReadonlyMap<number, PartitionState>;
  /** Assignment ids whose loads have ended here since this process started, by partition. */
  readonly loaded: ReadonlyMap<number, number>;
}

export function planDuties(active: ActiveRing, holdings: Holdings): DutyStep[] {
  const steps: DutyStep[] = [];
  const { serve, load } = activeDuties(active);
  for (const partition of serve) {
    const state = holdings.states.get(partition);
    if (state === undefined) steps.push({ kind: 'open', partition });
    else if (state !== 'ready') {
      // A file loaded since this process started has received every write since, so it is complete.
      // After a restart nobody can know that, so the file refills.
      const kind = holdings.loaded.has(partition) ? 'serve' : 'refill';
      steps.push({ kind, partition });
    }
  }
  for (const move of load) {
    const { partition, assignment } = move;
    const hasFile = holdings.states.has(partition);
    if (!hasFile) steps.push({ kind: 'accept', partition, move });
    else if (move.state === 'INITIALIZING' && holdings.loaded.get(partition) !== assignment) {
      steps.push({ kind: 'load', partition, move });
    }
  }
  const isNeeded = neededParents(active, holdings);
  for (const partition of holdings.states.keys()) {
    if (isNeeded(partition)) continue;
    if (isSurplus(active, partition)) steps.push({ kind: 'drain', partition });
  }
  return steps;
}

/**
 * Returns whether a split or merged partition is still needed, because a child here is not complete
 * without its file.
 */
function neededParents({ ring, self }: ActiveRing, { states }: Holdings) {
  const needed = new Set<number>();
  if (ring.reshape?.kind === 'from' && self !== null) {
    for (const [child, parents] of reshapeMappingOf(ring).parents) {
      const serves = dutyKindOf(ring, child, self) === 'SERVE';
      if (serves && states.get(child) !== 'ready') for (const parent of parents) needed.add(parent);
    }
  }
  return (partition: number): boolean => needed.has(partition);
}

/**
 * Whether the ring gives the partition to other devices only. True for every partition if the ring
 * does not name this device.
 */
export function isSurplus({ ring, self }: ActiveRing, partition: number): boolean {
  if (partition >= ring.partitions) return false;
  return self === null || dutyKindOf(ring, partition, self) === 'UNLOAD';
}
