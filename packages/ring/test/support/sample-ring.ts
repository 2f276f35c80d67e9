// Legal rings of any size for tests. Their placement is a plain stride, not the builder's.
import type { Device } from '../../src/device.ts';
import { encodeRing } from '../../src/file/ring-file.ts';
import { firstRing } from '../../src/first-ring.ts';
import type { Ring } from '../../src/ring.ts';
import { zeroTable } from '../../src/slot-rows.ts';

export function sampleDevice(id: number): Device {
  return {
    id,
    region: 1 + (id % 2),
    zone: 1 + (id % 3),
    ip: ipOf(id),
    port: 6200 + (id % 7),
    device: `sd${id}`,
    weight: 100 + id / 4,
    meta: id % 4 === 0 ? 'größer "1"' : '',
  };
}

function ipOf(id: number): string {
  if (id % 5 === 4) return `fd00::${(id & 0xffff).toString(16)}`;
  return `10.${id >> 16}.${(id >> 8) & 255}.${id & 255}`;
}

interface SampleSize {
  readonly power: number;
  readonly replicas: number;
  readonly devices: number;
  readonly holes?: readonly number[];
}

/** Returns version 1 of a ring in which slot (p, r) is on the (p·7 + r)-th device that exists. */
export function sampleRing({ power, replicas, devices, holes = [] }: SampleSize): Ring {
  const partitions = 2 ** power;
  const list = Array.from({ length: devices }, (_, id) =>
    holes.includes(id) ? null : sampleDevice(id),
  );
  const ids = list.flatMap((device) => (device === null ? [] : [device.id]));
  const table = zeroTable(partitions, replicas, devices);
  for (const [replica, row] of table.entries()) {
    for (let partition = 0; partition < row.length; partition += 1) {
      row[partition] = ids[(partition * 7 + replica) % ids.length] ?? 0;
    }
  }
  return firstRing({
    keyspace: 'cities',
    cluster: 'test',
    partitioner: { kind: 'md5-shift', power, prefix: '', suffix: 'ff00' },
    partitions,
    replicas,
    devices: list,
    table,
  });
}

export const idOf = (ring: Ring): string => encodeRing(ring).id;

/** Returns a device that neither holds nor joins the partition, or -1 if there is none. */
export function nonHolderOf(ring: Ring, partition: number): number {
  const other = ring.devices.find(
    (device) =>
      device !== null &&
      !ring.table.some((row) => row[partition] === device.id) &&
      !ring.moves.some((move) => move.partition === partition && move.to === device.id),
  );
  return other?.id ?? -1;
}
