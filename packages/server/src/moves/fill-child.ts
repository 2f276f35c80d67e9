// Fills the file of a child from the files of its parents on this very device: partitions that are
// split or merged. No byte leaves the device. Why nothing is lost: SPLITS.md beside this.
import { setImmediate } from 'node:timers/promises';
import { CodedError } from '@ringwright/base/coded-error';
import { childRowsBytesMax, childRowsMax } from '@ringwright/base/limits-copies';
import type { Store } from '@ringwright/partition/store';
import { partitionerOf } from '@ringwright/ring/partitioner/partition-of-key';
import { parentsIn } from '@ringwright/ring/reshape-ring';
import { filling } from '../replica/replica.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import type { LoadPorts, LoadTask } from './load-partition.ts';

type Child = Pick<LoadTask, 'active' | 'partition' | 'move'>;

/**
 * The parents from whose files here the child is filled; null where it comes from other devices.
 * Before the table names the child they are the only source. After that a file that never was
 * complete, since this server was started again, is filled from them as far as they are still here.
 * A child that begins empty gets nothing from them, and is complete on the same terms.
 */
export function parentsHere(store: Store, { active, partition, move }: Child): number[] | null {
  const { reshape, keyspace } = active.ring;
  if ((reshape?.kind === 'to') !== (move !== null)) return null;
  const found = parentsIn(active.ring);
  const parents = found.parents.get(partition);
  if (parents === undefined) return null;
  const givers = found.emptied.has(partition) ? [] : [...parents];
  if (reshape?.kind === 'to') return givers;
  const isLost = store.marks(keyspace, partition)?.state === 'lost';
  return !isLost && parents.every((parent) => isComplete(store, active, parent)) ? givers : null;
}

function isComplete(store: Store, { ring }: ActiveRing, partition: number): boolean {
  const isDamaged = store
    .damaged()
    .some((one) => one.keyspace === ring.keyspace && one.partition === partition);
  return !isDamaged && store.info(ring.keyspace, partition)?.state === 'ready';
}

/**
 * Resolves when the child has what its parents here have: records, open promises, and what stands
 * for dropped tombstones. While parents take requests, each write to them goes to the child too.
 * Throws PARTITION_FILLING for a parent that is not complete, DISK_FULL.
 */
export async function fillChild(
  ports: LoadPorts,
  task: LoadTask,
  parents: readonly number[],
): Promise<void> {
  if (parents.length === 0) return;
  const { store } = ports;
  const { active, partition: child, onProgress } = task;
  const { keyspace, reshape, partitioner } = active.ring;
  const isShared = reshape?.kind === 'to';
  const childOf = partitionerOf(isShared ? reshape.partitioner : partitioner);
  const before = parents.map((parent) => requireComplete(store, active, parent));
  const bytesTotal = before.reduce((sum, { bytes }) => sum + bytes, 0);
  await store.requireRoom(bytesTotal);
  onProgress({ stage: 'copying', bytes: 0, bytesTotal });
  const place = { keyspace, partition: child };
  const isOfChild = ({ key }: { readonly key: Uint8Array }): boolean => childOf(key) === child;
  const promises = () =>
    parents.flatMap((parent) => store.promises(keyspace, parent).filter(isOfChild));
  if (isShared) {
    const from = { parents: new Set(parents), childOf };
    store.children.mirror(place, from, 'promises');
    await store.children.allBefore(place);
    // In one turn: the child knows all promises before the first record that one may keep out.
    const promised = givePromises(store, place, promises());
    store.children.mirror(place, from, 'all');
    await promised;
    await store.children.allBefore(place);
    // failpoint: fill.shared
  }
  for (const parent of parents) await giveRows(ports, { task, parent, isOfChild });
  if (!isShared) await givePromises(store, place, promises());
  const after = parents.map((parent) => requireComplete(store, active, parent));
  const isSame = after.every(
    ({ incarnation, floorMs }, index) =>
      before[index]?.incarnation === incarnation && before[index]?.floorMs === floorMs,
  );
  if (!isSame) throw filling(child);
  // What both parents stand for; what one of them alone had dropped, nobody gives any more.
  const floorMs = Math.min(...after.map((one) => one.floorMs));
  const barrierMs = Math.max(...after.map((one) => one.barrierMs));
  await store.children.carryMarks(place, { floorMs, barrierMs });
  if (isShared) store.children.mirror(place, { parents: new Set(parents), childOf }, 'filled');
  // failpoint: fill.filled
}

interface Place {
  readonly keyspace: string;
  readonly partition: number;
}

async function givePromises(
  store: Store,
  place: Place,
  promises: ReturnType<Store['promises']>,
): Promise<void> {
  if (promises.length === 0) return;
  await store.write(
    promises.map(({ key, ms, tie }) => ({ ...place, key, value: null, ms, tie, isPromise: true })),
  );
}

function requireComplete(store: Store, { ring }: ActiveRing, parent: number) {
  const info = store.info(ring.keyspace, parent);
  if (info?.state !== 'ready') throw filling(parent);
  return info;
}

async function giveRows(
  { store, throttle, decide }: LoadPorts,
  wanted: {
    readonly task: LoadTask;
    readonly parent: number;
    readonly isOfChild: (row: { readonly key: Uint8Array }) => boolean;
  },
): Promise<void> {
  const { task, parent, isOfChild } = wanted;
  const { active, partition, onProgress } = task;
  const { keyspace } = active.ring;
  const bounds = { rowsMax: childRowsMax, bytesMax: childRowsBytesMax };
  for (let [since, bytes, rows] = [0, 0, 0]; ; ) {
    const page = store.rowsSince(keyspace, parent, since, bounds);
    const mine = page.rows.filter(isOfChild);
    const taken = mine.reduce((sum, { value, key }) => sum + key.length + (value?.length ?? 0), 0);
    bytes += taken;
    rows += mine.length;
    await throttle.pass(taken);
    const outcomes = await store.write(mine.map((row) => ({ ...row, keyspace, partition })));
    // failpoint: fill.rows
    for (const [index, { kind }] of outcomes.entries()) {
      if (kind === 'absent') {
        throw new CodedError('PARTITION_ABSENT', `partition ${partition} went while it was filled`);
      }
      const key = mine[index]?.key;
      if (kind === 'promised' && key !== undefined) await decide(keyspace, key);
    }
    onProgress({ bytes, rows });
    if (!page.more) return;
    since = page.lastSeq;
    await setImmediate();
  }
}
