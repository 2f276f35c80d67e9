// Filling the children of partitions that are split or merged, for whoever has the store.
import { changeMarks } from './change-marks.ts';
import type { PartitionMarks } from './file/partition-info.ts';
import { storedSince } from './file/read-records.ts';
import type { HashedRow, PageBounds, RowsPage } from './file/record.ts';
import { ChildFills } from './parts/child-fills.ts';
import type { Mirror, MirrorPhase } from './parts/mirrors.ts';
import { partitionOf, type StoreParts } from './parts/store-parts.ts';
import { readPartitionFile } from './parts/use-partition.ts';

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
  /**
   * Rows of a parent numbered above `since`. Those written after the page that begins at 0 may be
   * left out: the mirror brings them. So the parent's file need not store them one page at a time.
   * Throws PARTITION_ABSENT, PARTITION_DAMAGED, RECORD_DAMAGED.
   */
  readonly rowsOf: (parent: Place, since: number, bounds: PageBounds) => RowsPage<HashedRow>;
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
    rowsOf: (parent, since, bounds) =>
      readPartitionFile(parts, partitionOf(parts, parent), (file) => {
        if (since === 0) file.flush();
        return storedSince(file, since, bounds);
      }),
    carryMarks: (child, marks) => changeMarks(parts, partitionOf(parts, child), marks),
  };
}
