// Fills the files of child partitions from those of their parents on this device, after a split or
// merge. No byte leaves the device. SPLITS.md explains why nothing is lost.
import { must } from '@ringwright/base/assert';
import type { PartitionRef } from '@ringwright/partition/file/data-paths';
import type { Write } from '@ringwright/partition/file/record';
import type { Store } from '@ringwright/partition/store';
import type { AdoptedChild } from '@ringwright/partition/store/child-fills';
import type { MirrorPhase } from '@ringwright/partition/store/mirror';
import { partitionerOf } from '@ringwright/ring/partitioner/partition-of-key';
import type { Partitioner } from '@ringwright/ring/partitioner/partitioner';
import { reshapeMappingOf } from '@ringwright/ring/reshape-ring';
import { usableInfo } from '../peers/holdings.ts';
import { filling } from '../replica/replica.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import type { LoadPorts, LoadTask } from './load-task.ts';

type Child = Pick<LoadTask, 'active' | 'partition' | 'move'>;

/**
 * Returns the parents whose files here fill the child; null if it is filled from other devices.
 * Before the table names the child, its parents are the only source. Afterwards they fill a file
 * that never was complete because this server restarted, if all of them are still complete here. A
 * child that begins empty takes nothing from its parents, and counts as complete under the same
 * conditions.
 */
export function parentsHere(store: Store, { active, partition, move }: Child): number[] | null {
  const { reshape, keyspace } = active.ring;
  if ((reshape?.kind === 'to') !== (move !== null)) return null;
  const mapping = reshapeMappingOf(active.ring);
  const parents = mapping.parents.get(partition);
  if (parents === undefined) return null;
  const sources = mapping.emptied.has(partition) ? [] : [...parents];
  if (reshape?.kind === 'to') return sources;
  const isLost = store.marks(keyspace, partition)?.state === 'lost';
  return !isLost && parents.every((parent) => isComplete(store, active, parent)) ? sources : null;
}

function isComplete(store: Store, { ring }: ActiveRing, partition: number): boolean {
  return usableInfo(store, ring.keyspace, partition)?.state === 'ready';
}

/**
 * Resolves when the child has what its parents here have: records, open promises, and the floor and
 * barrier of dropped tombstones. Meanwhile each write to the parents goes to the child too, also
 * after the table names the child: then some that have passed the fence may still wait for the log.
 * One pass over the parents fills all their children that are to be filled here; a call for another
 * child waits for the end of that pass. Throws PARTITION_FILLING for a parent that is not
 * complete, and DISK_FULL.
 */
export async function fillChild(
  ports: LoadPorts,
  task: LoadTask,
  parents: readonly number[],
): Promise<void> {
  if (parents.length === 0) return;
  const { fills } = ports.store.children;
  const { active, partition, onProgress } = task;
  const child = { keyspace: active.ring.keyspace, partition };
  const pass = fills.underway(child);
  if (pass !== null) await pass;
  else if (fills.adoptedChild(child) === null) {
    const children = [child, ...siblingsOf(ports.store, task, parents)];
    await fills.run(children, () => fillAll(ports, task, familyOf(active, parents, children)));
  }
  const adopted = fills.adoptedChild(child);
  if (adopted === null) throw filling(partition);
  onProgress({ rows: adopted.rows, bytes: adopted.bytes });
}

/**
 * Returns the other children for the same pass. None once the table names the children: then each
 * is a refill of its own.
 */
function siblingsOf(
  store: Store,
  { active, partition }: Omit<Child, 'move'>,
  parents: readonly number[],
): PartitionRef[] {
  const { keyspace, reshape } = active.ring;
  if (reshape?.kind !== 'to') return [];
  const mapping = reshapeMappingOf(active.ring);
  const ids = [...mapping.parents.keys()].filter(
    (id) => id !== partition && !mapping.emptied.has(id),
  );
  const siblings = ids.filter((id) =>
    mapping.parents.get(id)?.every((parent) => parents.includes(parent)),
  );
  return store.children.fills.unfilled(siblings.map((id) => ({ keyspace, partition: id })));
}

/** The parents and children of one pass. */
interface Family {
  readonly keyspace: string;
  readonly parents: readonly number[];
  readonly children: readonly PartitionRef[];
  readonly partitioner: Partitioner;
  readonly childOf: (key: Uint8Array) => number;
}

function familyOf(
  { ring }: ActiveRing,
  parents: readonly number[],
  children: readonly PartitionRef[],
): Family {
  const { keyspace, reshape, partitioner } = ring;
  const childPartitioner = reshape?.kind === 'to' ? reshape.partitioner : partitioner;
  const childOf = partitionerOf(childPartitioner);
  return { keyspace, parents, children, partitioner: childPartitioner, childOf };
}

async function fillAll(
  ports: LoadPorts,
  task: LoadTask,
  family: Family,
): Promise<ReadonlyMap<number, AdoptedChild>> {
  const { store } = ports;
  const { keyspace, parents, children } = family;
  const parentInfos = () => parents.map((parent) => requireComplete(store, task.active, parent));
  const before = parentInfos();
  const bytesTotal = before.reduce((sum, { bytes }) => sum + bytes, 0);
  await ports.throttle.pass(bytesTotal);
  task.onProgress({ stage: 'copying', bytes: 0, bytesTotal });
  const files = children.map(({ partition }) => {
    const { incarnation } = must(store.info(keyspace, partition), 'unfilled() knows it');
    return { partition, incarnation };
  });
  await share(store, family);
  const adopted = await store.children.adopt({ ...family, children: files });
  const after = parentInfos();
  const isSame = after.every(
    ({ incarnation, floorMs }, index) =>
      before[index]?.incarnation === incarnation && before[index]?.floorMs === floorMs,
  );
  if (!isSame) throw filling(task.partition);
  // The lowest floor holds for all parents. Records that only one parent had dropped are not
  // offered by any holder any more.
  const floorMs = Math.min(...after.map((one) => one.floorMs));
  const barrierMs = Math.max(...after.map((one) => one.barrierMs));
  await Promise.all(
    children.map((child) => store.carryMarks(keyspace, child.partition, { floorMs, barrierMs })),
  );
  mirror(store, family, 'filled');
  // failpoint: fill.filled
  return adopted;
}

/**
 * When this resolves, whatever the parents have taken is in their files or was written to the
 * children too.
 */
async function share(store: Store, family: Family): Promise<void> {
  mirror(store, family, 'promises');
  await store.children.allBefore(family.children);
  // In one turn: a child knows all promises before the first record that one of them may keep out.
  const promised = store.write(promisesOf(store, family));
  mirror(store, family, 'all');
  await promised;
  await store.children.allBefore(family.children);
  // failpoint: fill.shared
}

function mirror(store: Store, { parents, children, childOf }: Family, phase: MirrorPhase): void {
  const from = { parents: new Set(parents), childOf };
  for (const child of children) store.children.mirror(child, from, phase);
}

function promisesOf(store: Store, { keyspace, parents, children, childOf }: Family): Write[] {
  const filled = new Set(children.map(({ partition }) => partition));
  return parents
    .flatMap((parent) => store.preparedBallots(keyspace, parent))
    .map(({ key, ms, tie }) => ({ keyspace, partition: childOf(key), key, ms, tie }))
    .filter(({ partition }) => filled.has(partition))
    .map((promise) => ({ ...promise, value: null, isPreparedBallot: true }));
}

function requireComplete(store: Store, { ring }: ActiveRing, parent: number) {
  const info = store.info(ring.keyspace, parent);
  if (info?.state !== 'ready') throw filling(parent);
  return info;
}
