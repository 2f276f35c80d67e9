// Rings of a small cluster as its servers see them, and the versions of a move. All of them are
// valid.
import {
  finalizeMoves,
  initializeMoves,
  proposeMoves,
  type SlotMove,
} from '@ringwright/ring/advance-ring';
import { encodeRing } from '@ringwright/ring/file/ring-file';
import { firstRing } from '@ringwright/ring/first-ring';
import { type Partitioner, partitionCountOf } from '@ringwright/ring/partitioner/partitioner';
import type { Ring } from '@ringwright/ring/ring';
import { zeroTable } from '@ringwright/ring/slot-rows';
import type { DeviceIdentity } from '@ringwright/server/device/device-identity';
import { type ActiveRing, activeRing } from '@ringwright/server/rings/active-ring';

interface Size {
  readonly devices?: number;
  readonly replicas?: number;
  readonly power?: number;
  /** Absent: md5-shift of that power. */
  readonly partitioner?: Partitioner;
}

/** Version 1: slot (p, r) is on device (p + r) modulo the devices, all at 127.0.0.1. */
export function servedRing(size: Size = {}): Ring {
  const { devices = 4, replicas = 3, power = 2 } = size;
  const md5 = { kind: 'md5-shift', power, prefix: '', suffix: '' } as const;
  const { partitioner = md5 } = size;
  const partitions = partitionCountOf(partitioner);
  const table = zeroTable(partitions, replicas, devices);
  for (const [replica, row] of table.entries()) {
    for (let partition = 0; partition < row.length; partition += 1) {
      row[partition] = (partition + replica) % devices;
    }
  }
  return firstRing({
    keyspace: 'cities',
    cluster: 'test',
    partitioner,
    partitions,
    replicas,
    devices: Array.from({ length: devices }, (_, id) => ({
      id,
      region: 1,
      zone: id,
      ip: '127.0.0.1',
      port: 6200 + id,
      device: `sd${id}`,
      weight: 1,
      meta: '',
    })),
    table,
  });
}

export function idOf(ring: Ring): string {
  return encodeRing(ring).id;
}

/** Returns the versions of moves after `ring`: proposed, initializing, finalized. */
export function moveVersions(
  ring: Ring,
  moves: readonly SlotMove[],
): readonly [proposed: Ring, initializing: Ring, finalized: Ring] {
  const proposed = proposeMoves(ring, idOf(ring), { moves });
  const initializing = initializeMoves(proposed, idOf(proposed));
  return [proposed, initializing, finalizeMoves(initializing, idOf(initializing))];
}

export function identityOf(ring: Ring, device: number): DeviceIdentity {
  const { ip, port, device: name } = ring.devices[device] ?? { ip: '', port: 0, device: '' };
  return { name, address: { ip, port }, born: `born ${device}` };
}

/** Returns the ring as it is active on device `self`. */
export function activeOn(ring: Ring, self: number): ActiveRing {
  const { bytes, id } = encodeRing(ring);
  return activeRing({ ring, id, bytes }, identityOf(ring, self), 0);
}
