// Filling the children of partitions that are split or merged, for whoever has the store.
import { changeMarks } from './change-marks.ts';
import type { PartitionMarks } from './file/partition-info.ts';
import type { Mirror, MirrorPhase } from './parts/mirrors.ts';
import { partitionOf, type StoreParts } from './parts/store-parts.ts';

interface Place {
  readonly keyspace: string;
  readonly partition: number;
}

export interface StoreChildren {
  /**
   * From this call on writes of the parents go to the child as well, as the phase says. Others of
   * the same reshaping stay as they are.
   */
  readonly mirror: (child: Place, from: Omit<Mirror, 'phases'>, phase: MirrorPhase) => void;
  /** Ends it for a keyspace of which no child, or no parent, is here any more. */
  readonly endMirror: (keyspace: string) => void;
  /** Resolves when all that was queued before is applied: an entry of the log behind it. */
  readonly allBefore: (child: Place) => Promise<void>;
  /** Gives the child what the parents promised and dropped. Throws PARTITION_ABSENT. */
  readonly carryMarks: (child: Place, marks: Omit<PartitionMarks, 'state'>) => Promise<void>;
}

export function storeChildren(parts: StoreParts): StoreChildren {
  const { mirrors, registry } = parts;
  return {
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
      mirrors.delete(keyspace);
    },
    allBefore: (child) => changeMarks(parts, partitionOf(parts, child), {}),
    carryMarks: (child, marks) => changeMarks(parts, partitionOf(parts, child), marks),
  };
}
