// Partitions that are being split or merged: each write to one also goes to a child, in the same
// batch of the log. The fill of a child (packages/server) decides from when on.
import type { PartitionRef } from '../file/data-paths.ts';
import type { Write } from '../file/record.ts';
import type { StoreParts } from './store-parts.ts';

/** Removes a child from the mirror: the file that takes its place lacks what the parent has. */
export function leaveMirror({ mirrors }: StoreParts, child: PartitionRef): void {
  mirrors.get(child.keyspace)?.phases.delete(child.partition);
}

/** Stands for a write that must be refused until the child has what the write may depend on. */
export const writeRefused = Symbol('not now');

/** Returns the write that goes to the child, null for none, or `writeRefused`. */
export function mirroredWrite(parts: StoreParts, write: Write): Write | typeof writeRefused | null {
  const mirror = parts.mirrors.get(write.keyspace);
  if (mirror === undefined || !mirror.parents.has(write.partition)) return null;
  const child = mirror.childOf(write.key);
  const phase = mirror.phases.get(child);
  if (phase === undefined) return null;
  if (write.isPreparedBallot === true || phase === 'filled') return { ...write, partition: child };
  if (phase === 'promises') return null;
  // The parent may refuse the write because of its floor, and the child gets the floor last.
  if (write.ms <= floorOf(parts, write)) return writeRefused;
  return { ...write, partition: child };
}

function floorOf({ registry }: StoreParts, { keyspace, partition }: Write): number {
  const found = registry.get(keyspace, partition);
  return found?.file?.marks().floorMs ?? found?.infoWhenClosed?.floorMs ?? Number.POSITIVE_INFINITY;
}
