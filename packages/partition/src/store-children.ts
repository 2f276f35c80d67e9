// Filling the children of partitions that are split or merged, for whoever has the store.

import { adoptChildren, type ChildrenHere } from './adopt-children.ts';
import { changeMarks } from './change-marks.ts';
import type { PartitionMarks } from './file/partition-info.ts';
import { type AdoptedChild, ChildFills } from './parts/child-fills.ts';
import type { Mirror, MirrorPhase } from './parts/mirrors.ts';
import { partitionOf, type StoreParts } from './parts/store-parts.ts';

interface Place {
  readonly keyspace: string;
  readonly partition: number;
}

export interface StoreChildren {
  readonly fills: ChildFills;
  /**
   * From this call on writes of the parents go to the child as well, as the phase says. Others of
   * the same reshaping stay as they are.
   */
  readonly mirror: (child: Place, from: Omit<Mirror, 'phases'>, phase: MirrorPhase) => void;
  /** Ends it for a keyspace of which no child, or no parent, is here any more. */
  readonly endMirror: (keyspace: string) => void;
  /** Resolves when all that was queued before is applied: entries of the log behind it. */
  readonly allBefore: (children: readonly Place[]) => Promise<void>;
  /** See adoptChildren. */
  readonly adopt: (family: ChildrenHere) => Promise<ReadonlyMap<number, AdoptedChild>>;
  /** Gives the child what the parents promised and dropped. Throws PARTITION_ABSENT. */
  readonly carryMarks: (child: Place, marks: Omit<PartitionMarks, 'state'>) => Promise<void>;
}

export function storeChildren(parts: StoreParts): StoreChildren {
  const { mirrors, registry } = parts;
  const fills = new ChildFills(registry);
  return {
    fills,
    mirror: ({ keyspace, partition }, { parents, childOf }, phase) => {
      const known = mirrors.get(keyspace)?.phases;
      const isSame = known !== undefined && [...known.keys()].every((id) => !parents.has(id));
      mirrors.set(keyspace, {
        parents: new Set([...(isSame ? (mirrors.get(keyspace)?.parents ?? []) : []), ...parents]),
        childOf,
        phases: (isSame ? known : new Map<number, MirrorPhase>()).set(partition, phase),
      });
    },
    endMirror: (keyspace) => {
      const mirror = mirrors.get(keyspace);
      const isHere = (id: number): boolean => registry.get(keyspace, id) !== undefined;
      if (mirror === undefined) return;
      const { parents, phases } = mirror;
      if ([...parents].some(isHere) && [...phases.keys()].some(isHere)) return;
      fills.forget(keyspace);
      mirrors.delete(keyspace);
    },
    allBefore: async (children) => {
      await Promise.all(children.map((child) => changeMarks(parts, partitionOf(parts, child), {})));
    },
    adopt: (family) => adoptChildren(parts, family),
    carryMarks: (child, marks) => changeMarks(parts, partitionOf(parts, child), marks),
  };
}
