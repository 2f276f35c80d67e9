// The two versions of the push benchmark: legal, hard to compress, and 0.1 % of the slots apart.
import { seededRandom } from '@ringwright/base/random';
import { proposeMoves } from '@ringwright/ring/advance-ring';
import { encodeRing } from '@ringwright/ring/file/ring-file';
import { firstRing } from '@ringwright/ring/first-ring';
import type { Ring } from '@ringwright/ring/ring';
import { deviceOf, zeroTable } from '@ringwright/ring/slot-rows';

const replicas = 3;
/** Each replica is on devices of its own. */
const devicesPerReplica = 100;
const movedShare = 0.001;
const seed = 1;

export interface PushedVersion {
  readonly version: number;
  readonly id: string;
  readonly bytes: Buffer;
}

export function pushVersions(power: number): readonly [PushedVersion, PushedVersion] {
  const random = seededRandom(seed);
  const partitions = 2 ** power;
  const count = devicesPerReplica * replicas;
  const table = zeroTable(partitions, replicas, count);
  for (const [replica, row] of table.entries()) {
    for (let partition = 0; partition < row.length; partition += 1) {
      row[partition] = devicesPerReplica * replica + (random.next() % devicesPerReplica);
    }
  }
  const partitioner = { kind: 'md5-shift', power, prefix: '', suffix: '' } as const;
  const settings = { keyspace: 'bench', cluster: 'bench', partitioner, partitions, replicas };
  const first = firstRing({ ...settings, devices: Array.from({ length: count }, deviceAt), table });
  const from = encodeRing(first);
  const slots = Math.ceil(partitions * replicas * movedShare);
  const stride = Math.floor(partitions / slots);
  const moves = Array.from({ length: slots }, (_, index) => {
    const partition = index * stride + (random.next() % stride);
    return moveOf(first, partition, random.next());
  });
  const second = proposeMoves(first, from.id, { moves });
  return [
    { version: 1, ...from },
    { version: 2, ...encodeRing(second) },
  ];
}

function moveOf(ring: Ring, partition: number, draw: number) {
  const replica = draw % replicas;
  const from = deviceOf(ring.table, replica, partition);
  const further = 1 + (draw % (devicesPerReplica - 1));
  const to = devicesPerReplica * replica + ((from + further) % devicesPerReplica);
  return { partition, replica, from, to };
}

function deviceAt(_: unknown, id: number): Ring['devices'][number] {
  const ip = `10.0.${id >> 8}.${id & 255}`;
  const [port, device] = [6200, `sd${id}`];
  return { id, region: 1, zone: id % 5, ip, port, device, weight: 100, meta: '' };
}
