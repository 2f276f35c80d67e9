// Pushes a partition's records to another holder: offers timestamps, and sends what it lacks.
import { socketMessageBytesMax } from '@ringwright/base/limits';
import type { Store } from '@ringwright/partition/store';
import type { RequestOf } from '@ringwright/wire/message';
import { offer, offerRowsMax, push } from '@ringwright/wire/replication';
import type { FinishProposal } from '../coordinate/finish-proposals.ts';
import type { DeviceCaller } from '../peers/device-caller.ts';
import { wireContent } from '../replica/wire-record.ts';
import type { ActiveRing } from '../rings/active-ring.ts';

export interface PushPorts {
  readonly store: Store;
  readonly devices: DeviceCaller;
  readonly decide: FinishProposal;
}

interface PushTask {
  readonly active: ActiveRing;
  readonly partition: number;
  readonly device: number;
  /** Sequence the device has confirmed. */
  readonly since: number;
  /** Records stamped after this are left out: their own writes are still on the way. */
  readonly untilMs: number;
}

export interface PushResult {
  /** The device holds every record up to this sequence, or something newer of its key. */
  readonly confirmed: number;
  readonly offered: number;
  /** Records the device lacked. */
  readonly pushed: number;
}

/** Rows of one push message stay under this many bytes of keys and values. */
const PUSH_BYTES_MAX = socketMessageBytesMax / 4;

export async function pushRows(ports: PushPorts, task: PushTask): Promise<PushResult> {
  const { active, partition, device } = task;
  const { keyspace, version } = active.ring;
  const about = { keyspace, ringVersion: version, partition };
  let [confirmed, offered, pushed] = [task.since, 0, 0];
  for (;;) {
    const batch = ports.store.stampsSince(keyspace, partition, confirmed, {
      rowsMax: offerRowsMax,
      bytesMax: PUSH_BYTES_MAX,
    });
    const young = batch.rows.findIndex(({ ms }) => ms > task.untilMs);
    const rows = young === -1 ? batch.rows : batch.rows.slice(0, young);
    if (rows.length > 0) {
      const stamps = rows.map(({ key, ms, tie }): [Uint8Array, number, number] => [key, ms, tie]);
      const { wanted } = await ports.devices.call({ active, device }, offer, { ...about, stamps });
      for (const group of groupRows(
        ports.store,
        about,
        wanted.map((index) => rows[index]?.key),
      )) {
        // failpoint: push.before
        const sent = { ...about, rows: group };
        const { undecided } = await ports.devices.call({ active, device }, push, sent);
        for (const index of undecided) {
          const key = group[index]?.key;
          if (key !== undefined) await ports.decide(keyspace, key);
        }
        pushed += group.length;
      }
      offered += rows.length;
    }
    confirmed = young === -1 ? batch.lastSeq : (rows.at(-1)?.seq ?? confirmed);
    if (young !== -1 || !batch.more) return { confirmed, offered, pushed };
  }
}

type PushRows = RequestOf<typeof push>['rows'];

/**
 * Records of the wanted keys as they are now (a newer one is as good), in groups that fit a
 * message.
 */
function groupRows(
  store: Store,
  about: { readonly keyspace: string; readonly partition: number },
  keys: readonly (Uint8Array | undefined)[],
): PushRows[] {
  const groups: PushRows[] = [];
  let group: PushRows = [];
  let bytes = 0;
  for (const key of keys) {
    const record = key === undefined ? null : store.read(about.keyspace, about.partition, key);
    if (record === null) continue;
    group.push({ key: record.key, ...wireContent(record) });
    bytes += record.key.length + (record.value?.length ?? 0);
    if (bytes < PUSH_BYTES_MAX) continue;
    groups.push(group);
    [group, bytes] = [[], 0];
  }
  return group.length > 0 ? [...groups, group] : groups;
}
