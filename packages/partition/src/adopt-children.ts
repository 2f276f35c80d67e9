// Takes the files of children into use. A helper process builds them from the parents' files.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { childrenPlacedAtOnce, mergesAsideMax } from '@ringwright/base/limits-copies';
import { mergeRowsMin } from '@ringwright/base/limits-store';
import { mapConcurrent } from '@ringwright/base/map-concurrent';
import { messageOf } from '@ringwright/base/thrown';
import { removeFiles } from '@ringwright/node/remove-files';
import type { Partitioner } from '@ringwright/ring/partitioner/partitioner';
import { adoptCopy } from './copy/adopt-copy.ts';
import { copyInProcess } from './copy/copy-live-file.ts';
import { roomFor } from './copy/staged-copy.ts';
import { type PartitionRef, partitionName } from './file/data-paths.ts';
import { isEmpty, type Partition } from './file/partition.ts';
import { scrubPartition } from './scrub-partition.ts';
import type { BuiltChild } from './side/build-children.ts';
import { changeMarks } from './store/change-marks.ts';
import { type AdoptedChild, ChildFills } from './store/child-fills.ts';
import type { Mirror, MirrorPhase } from './store/mirror.ts';
import { bytesOnDisk } from './store/store-figures.ts';
import { partitionOf, type StoreParts } from './store/store-parts.ts';
import { checkThere, readPartitionFile } from './store/use-partition.ts';

interface ChildrenHere {
  readonly keyspace: string;
  /** Maps a key to its child. */
  readonly partitioner: Partitioner;
  readonly parents: readonly number[];
  /** Each child with the incarnation that has taken part in the mirror since before this call. */
  readonly children: readonly { readonly partition: number; readonly incarnation: string }[];
}

/**
 * When this resolves, each child has the rows that its parents had at the call, and its own. The
 * bytes pass through another process, and serving goes on. Idempotent. Throws DISK_FULL before
 * anything is copied, unless there is room for a copy of each parent and for the children;
 * PARTITION_ABSENT for a child that was dropped; COPY_INVALID for a parent with damage, after
 * marking it.
 */
async function adoptChildren(
  parts: StoreParts,
  family: ChildrenHere,
): Promise<ReadonlyMap<number, AdoptedChild>> {
  const { keyspace } = family;
  const children = family.children.map(({ partition, incarnation }) => {
    return childOf(partitionOf(parts, { keyspace, partition }), incarnation);
  });
  const startIncarnations = new Map(children.map((child) => [child, child.incarnation]));
  const parents = family.parents
    .map((partition) => partitionOf(parts, { keyspace, partition }))
    .filter((parent) => !isEmpty(parent));
  const built = new Map<number, BuiltChild>();
  const bytesToCopy = parents.reduce((sum, one) => sum + bytesOnDisk(parts.root, one), 0);
  const directory = parts.stagingPath('children');
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => removeFiles(directory));
  cleanup.use(await roomFor(parts, 2 * bytesToCopy));
  if (parents.length > 0) {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const files = await build(parts, { family, parents, children, directory });
    for (const child of files) built.set(child.partition, child);
    // failpoint: fill.built
  }
  const adopted = await mapConcurrent(children, childrenPlacedAtOnce, async (child) => {
    const { rows, bytes } = built.get(child.partition) ?? { rows: 0, bytes: 0 };
    const incarnation = startIncarnations.get(child) ?? '';
    if (rows > 0) await adopt(parts, child, { incarnation, staging: directory });
    else childOf(child, incarnation);
    return [child.partition, { rows, bytes, incarnation: child.incarnation }] as const;
  });
  return new Map(adopted);
}

/**
 * Returns the child if it still has the file that takes part in the mirror. Throws if another file
 * replaced that one.
 */
function childOf(child: Partition, incarnation: string): Partition {
  if (child.incarnation === incarnation) return child;
  const message = `${partitionName(child)} was replaced before it was filled`;
  throw new CodedError('PARTITION_ABSENT', message);
}

function directoryOf(staging: string, { partition }: { readonly partition: number }): string {
  return join(staging, `child-${partition}`);
}

interface Building {
  readonly family: ChildrenHere;
  readonly parents: readonly Partition[];
  readonly children: readonly Partition[];
  readonly directory: string;
}

async function build(
  parts: StoreParts,
  { family, parents, children, directory }: Building,
): Promise<readonly BuiltChild[]> {
  const { keyspace, partitioner } = family;
  parts.audits.prepare();
  const files = parents.map(({ partition }) => join(directory, `parent-${partition}.db`));
  for (const [index, parent] of parents.entries()) {
    await copyInProcess(parts, parent, files[index] as string); // one staged file per parent
  }
  const toBuild = children.map((child) => {
    const file = join(directoryOf(directory, child), 'data.db');
    return { partition: child.partition, incarnation: parts.newIncarnation(), file };
  });
  for (const child of children) await mkdir(directoryOf(directory, child), { mode: 0o700 });
  const scratch = join(directory, 'routes.db');
  try {
    const work = { keyspace, partitioner, parents: files, children: toBuild, scratch };
    return await parts.audits.build(work);
  } catch (error) {
    if (error instanceof CodedError) throw error;
    // The scrub finds out which parent is damaged, and marks it.
    for (const parent of parents) await scrubPartition(parts, parent);
    const reason = messageOf(error);
    const names = parents.map(partitionName).join(', ');
    throw new CodedError('COPY_INVALID', `children of ${names}: ${reason}`);
  } finally {
    for (const file of files) await removeFiles(file);
  }
}

async function adopt(
  parts: StoreParts,
  child: Partition,
  { incarnation, staging }: { readonly incarnation: string; readonly staging: string },
): Promise<void> {
  const directory = directoryOf(staging, child);
  const mergedSeq = await mergeAside(parts, child, directory);
  await parts.mutex.run(partitionName(child), () =>
    adoptCopy(parts, childOf(child, incarnation), { directory, mergedSeq }),
  );
}

/**
 * Merges what the mirror has written to the child so far into the built file, outside the serving
 * thread. Repeats for what arrived meanwhile until little is left, which the serving thread then
 * merges. Resolves to the last sequence that is in the built file.
 */
async function mergeAside(parts: StoreParts, child: Partition, directory: string): Promise<number> {
  const [present, into] = [join(directory, 'present.db'), join(directory, 'data.db')];
  let merged = 0;
  for (let round = 0; round < mergesAsideMax && hasMore(parts, child, merged); round += 1) {
    try {
      const seq = await copyInProcess(parts, child, present);
      await parts.audits.merge({ from: present, since: merged, into });
      merged = seq;
    } finally {
      for (const name of [present, `${present}-wal`]) await removeFiles(name);
    }
  }
  return merged;
}

function hasMore(parts: StoreParts, child: Partition, merged: number): boolean {
  checkThere(parts, child);
  return readPartitionFile(parts, child, ({ seq }) => seq > merged + mergeRowsMin);
}

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
      { keyspace, partition }: PartitionRef,
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
    allBefore: async (children: readonly PartitionRef[]): Promise<void> => {
      await Promise.all(children.map((child) => changeMarks(parts, partitionOf(parts, child), {})));
    },
    /** See adoptChildren. */
    adopt: (family: ChildrenHere) => adoptChildren(parts, family),
  };
}
