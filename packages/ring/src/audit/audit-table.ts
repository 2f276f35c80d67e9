// Audit of a ring's table and minVersions, one pass each over the typed arrays. Pure.

import { liveIds } from '../partitioner/live-ids.ts';
import { nobodyIn, type Ring } from '../ring.ts';
import type { Broken, Check } from './finding-list.ts';

export const tableChecks: readonly Check<Ring>[] = [
  { code: 'SLOT_DEVICE_UNKNOWN', broken: deviceUnknown },
  { code: 'PARTITION_DEVICE_TWICE', broken: deviceTwice },
  { code: 'MIN_VERSION_INVALID', broken: minVersionInvalid },
];

function* deviceUnknown({ table, devices, partitioner }: Ring): Generator<Broken> {
  const known = Uint8Array.from(devices, (device) => (device === null ? 0 : 1));
  const live = liveIds(partitioner);
  for (const [replica, row] of table.entries()) {
    const nobody = nobodyIn(row);
    for (let partition = 0; partition < row.length; partition += 1) {
      const device = row[partition] ?? -1;
      if (live !== null && live[partition] === 0) {
        if (device === nobody) continue;
        yield {
          message: `slot (${partition}, ${replica}) names device ${device}, and has no keys`,
        };
        continue;
      }
      if (known[device] === 1) continue;
      const what = device < devices.length ? 'a hole' : `not among ${devices.length} devices`;
      yield { message: `slot (${partition}, ${replica}) names device ${device}, which is ${what}` };
    }
  }
}

/** The checks of moves cover the joiners. */
function* deviceTwice({ table, devices, partitions }: Ring): Generator<Broken> {
  const lastSeen = new Int32Array(devices.length).fill(-1);
  for (let partition = 0; partition < partitions; partition += 1) {
    for (let replica = 0; replica < table.length; replica += 1) {
      const device = table[replica]?.[partition];
      if (device === undefined || device >= lastSeen.length) continue;
      if (lastSeen[device] === partition) {
        yield { message: `partition ${partition} has two slots on device ${device}` };
      }
      lastSeen[device] = partition;
    }
  }
}

function* minVersionInvalid({ minVersions, version }: Ring): Generator<Broken> {
  for (let partition = 0; partition < minVersions.length; partition += 1) {
    const minVersion = minVersions[partition] ?? 0;
    if (minVersion >= 1 && minVersion <= version) continue;
    yield { message: `partition ${partition} has minVersion ${minVersion} in version ${version}` };
  }
}
