// Pushes a partition's records to another holder: offers stamps, and sends what the holder lacks.
import { socketMessageBytesMax } from '@ringwright/base/limits';
import type { StoredStamp } from '@ringwright/partition/file/record';
import type { Store } from '@ringwright/partition/store';
import type { RequestOf } from '@ringwright/wire/message';
import { offer, offerRowsMax, push } from '@ringwright/wire/replication';
import type { FinishProposal } from '../coordinate/propose.ts';
import type { DeviceCaller } from '../peers/device-caller.ts';
import { wireContent } from '../replica/wire-record.ts';
import type { ActivePartition } from '../rings/active-ring.ts';
import { stampAge } from './compare-holders.ts';

export interface PushPorts {
  readonly store: Store;
  readonly devices: DeviceCaller;
  readonly decide: FinishProposal;
}

interface PushTask extends ActivePartition {
  readonly device: number;
  /** Sequence that the device has confirmed. */
  readonly since: number;
  /**
   * The time by which records are young: these are not offered, nor the records after them. Records
   * ahead of it are skipped, and do not hold others back.
   */
  readonly nowMs: number;
}

interface PushResult {
  /** The device holds every record up to this sequence, or something newer of its key. */
  readonly confirmed: number;
  /** Number of records that the device lacked. */
  readonly pushed: number;
}

/** A push message ends when its keys and values reach this many bytes. */
const PUSH_BYTES_MAX = socketMessageBytesMax / 4;

export async function pushRows(ports: PushPorts, task: PushTask): Promise<PushResult> {
  const { active, partition, nowMs } = task;
  let [lastSeq, pushed] = [task.since, 0];
  let firstAhead: number | null = null;
  for (;;) {
    const batch = ports.store.stampsSince(active.ring.keyspace, partition, lastSeq, {
      rowsMax: offerRowsMax,
      bytesMax: PUSH_BYTES_MAX,
    });
    const aged = batch.rows.map((row) => ({ ...row, age: stampAge(row.ms, nowMs) }));
    const youngIndex = aged.findIndex(({ age }) => age === 'young');
    const olderRows = youngIndex === -1 ? aged : aged.slice(0, youngIndex);
    const rows = olderRows.filter(({ age }) => age === 'settled');
    firstAhead ??= olderRows.find(({ age }) => age === 'ahead')?.seq ?? null;
    if (rows.length > 0) pushed += await offerRows(ports, task, rows);
    lastSeq = youngIndex === -1 ? batch.lastSeq : (olderRows.at(-1)?.seq ?? lastSeq);
    if (youngIndex === -1 && batch.more) continue;
    return { confirmed: firstAhead === null ? lastSeq : firstAhead - 1, pushed };
  }
}

/** Returns how many of the rows the device lacked. They are durable there when it resolves. */
async function offerRows(
  ports: PushPorts,
  { active, partition, device }: PushTask,
  rows: readonly StoredStamp[],
): Promise<number> {
  const { keyspace, version } = active.ring;
  const scope = { keyspace, ringVersion: version, partition };
  const stamps = rows.map(({ key, ms, tie }): [Uint8Array, number, number] => [key, ms, tie]);
  const { wanted } = await ports.devices.call({ active, device }, offer, { ...scope, stamps });
  let pushed = 0;
  const wantedKeys = wanted.map((index) => rows[index]?.key);
  for (const group of groupRows(ports.store, scope, wantedKeys)) {
    // failpoint: push.before
    const request = { ...scope, rows: group };
    const { undecided } = await ports.devices.call({ active, device }, push, request);
    for (const index of undecided) {
      const key = group[index]?.key;
      if (key !== undefined) await ports.decide(keyspace, key);
    }
    pushed += group.length;
  }
  return pushed;
}

type PushRows = RequestOf<typeof push>['rows'];

/**
 * Yields the records of the wanted keys as they are now (a newer one is as good), in groups that
 * fit into a message. Each group is read when the one before it was sent: a thousand values may be
 * 1 GiB.
 */
function* groupRows(
  store: Store,
  scope: { readonly keyspace: string; readonly partition: number },
  keys: readonly (Uint8Array | undefined)[],
): Generator<PushRows> {
  let group: PushRows = [];
  let bytes = 0;
  for (const key of keys) {
    const record = key === undefined ? null : store.read(scope.keyspace, scope.partition, key);
    if (record === null) continue;
    group.push({ key: record.key, ...wireContent(record) });
    bytes += record.key.length + (record.value?.length ?? 0);
    if (bytes < PUSH_BYTES_MAX) continue;
    yield group;
    [group, bytes] = [[], 0];
  }
  if (group.length > 0) yield group;
}
