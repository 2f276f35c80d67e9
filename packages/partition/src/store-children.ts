// Operations of a store that fill the children of split or merged partitions.
import { adoptChildren, type ChildrenHere } from './adopt-children.ts';
import { changeMarks } from './change-marks.ts';
import type { PartitionPlace } from './file/data-paths.ts';
import { ChildFills } from './parts/child-fills.ts';
import type { Mirror, MirrorPhase } from './parts/mirrors.ts';
import { partitionOf, type StoreParts } from './parts/store-parts.ts';

export function storeChildren(parts: StoreParts) {
  const { mirrors, registry } = parts;
  const fills = new ChildFills(registry);
  return {
    fills,
    /**
     * From this call on, writes to the parents also go to the child, as the phase says. Mirrors of
     * other children of the same reshape stay as they are.
     */
    mirror: (
      { keyspace, partition }: PartitionPlace,
      { parents, childOf }: Omit<Mirror, 'phases'>,
      phase: MirrorPhase,
    ): void => {
      const known = mirrors.get(keyspace)?.phases;
      const isSame = known !== undefined && [...known.keys()].every((id) => !parents.has(id));
      mirrors.set(keyspace, {
        parents: new Set([...(isSame ? (mirrors.get(keyspace)?.parents ?? []) : []), ...parents]),
        childOf,
        phases: (isSame ? known : new Map<number, MirrorPhase>()).set(partition, phase),
      });
    },
    /** Ends the mirror of a keyspace in which no child, or no parent, is left here. */
    endMirror: (keyspace: string): void => {
      const mirror = mirrors.get(keyspace);
      const isHere = (id: number): boolean => registry.get(keyspace, id) !== undefined;
      if (mirror === undefined) return;
      const { parents, phases } = mirror;
      if ([...parents].some(isHere) && [...phases.keys()].some(isHere)) return;
      fills.forget(keyspace);
      mirrors.delete(keyspace);
    },
    /** Resolves when all writes queued so far are applied: it logs an empty change behind them. */
    allBefore: async (children: readonly PartitionPlace[]): Promise<void> => {
      await Promise.all(children.map((child) => changeMarks(parts, partitionOf(parts, child), {})));
    },
    /** See adoptChildren. */
    adopt: (family: ChildrenHere) => adoptChildren(parts, family),
  };
}
