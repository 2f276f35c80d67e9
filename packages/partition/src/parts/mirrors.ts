// Partitions of which each write goes to a child too, in the same batch of the log: they are being
// split or merged. The fill of a child (packages/server) says from when on.
import type { PartitionPlace } from '../file/data-paths.ts';
import type { Write } from '../file/record.ts';
import type { StoreParts } from './store-parts.ts';

/**
 * promises: the child gets those alone, so that it has all of the parent when it takes records.
 * all: records too; the older ones are being copied. filled: it has what the parent has.
 */
export type MirrorPhase = 'promises' | 'all' | 'filled';

export interface Mirror {
  readonly parents: ReadonlySet<number>;
  /** The child to which a key of a parent goes. */
  readonly childOf: (key: Uint8Array) => number;
  /** Of the children that take part. */
  readonly phases: Map<number, MirrorPhase>;
}

/** What is in the place of the child's file from now on has not what the parent has. */
export function leaveMirror({ mirrors }: StoreParts, child: PartitionPlace): void {
  mirrors.get(child.keyspace)?.phases.delete(child.partition);
}

/** A write that has to wait until the child has what it may depend on. */
export const notNow = Symbol('not now');

/** What the child gets of a write; null: nothing. */
export function twinOf(parts: StoreParts, write: Write): Write | typeof notNow | null {
  const mirror = parts.mirrors.get(write.keyspace);
  if (mirror === undefined || !mirror.parents.has(write.partition)) return null;
  const child = mirror.childOf(write.key);
  const phase = mirror.phases.get(child);
  if (phase === undefined) return null;
  if (write.isPromise === true || phase === 'filled') return { ...write, partition: child };
  if (phase === 'promises') return null;
  // The parent may refuse it for its floor, which the child gets last.
  if (write.ms <= floorOf(parts, write)) return notNow;
  return { ...write, partition: child };
}

function floorOf({ registry }: StoreParts, { keyspace, partition }: Write): number {
  const found = registry.get(keyspace, partition);
  return found?.file?.marks().floorMs ?? found?.infoWhenClosed?.floorMs ?? Number.POSITIVE_INFINITY;
}
