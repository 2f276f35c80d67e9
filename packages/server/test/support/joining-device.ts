// Sets up a device that joins for another one, with real stores and a file of many rows.

import { codeIn } from '../../../../test/support/refusal.ts';
import { moveVersions, servedRing } from '../../../../test/support/served-ring.ts';
import { StoreCluster, type StoreDevice } from '../../../../test/support/store-cluster.ts';
import { loadPartition } from '../../src/moves/load-partition.ts';

const first = servedRing({ power: 0 });
const versions = [first, ...moveVersions(first, [{ partition: 0, replica: 2, from: 2, to: 3 }])];

interface Joining extends AsyncDisposable {
  readonly cluster: StoreCluster;
  readonly source: StoreDevice;
  readonly joiner: StoreDevice;
}

/** Makes device 3 join for device 2, whose file has `rows` rows of 1,000 bytes. */
export async function joiningDevice(rows = 1_600): Promise<Joining> {
  const cluster = await StoreCluster.open(versions);
  await cluster.create(0, [0, 1, 2]);
  await cluster.create(0, [3], 'filling');
  const records = Object.fromEntries(
    Array.from({ length: rows }, (_, index) => [`key-${index}`, 'x'.repeat(1_000)]),
  );
  for (const device of cluster.devices.slice(0, 3)) await device.put(0, records);
  cluster.activate(3);
  const [, , source, joiner] = cluster.devices;
  return {
    ...{ cluster, source: source!, joiner: joiner! },
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}

/** Loads the partition. Returns 'loaded', or the code of the error. */
export async function load(
  device: StoreDevice,
  sourceFaults = 0,
  reasons: string[] = [],
): Promise<string> {
  const { active, store, devices, decide, throttle, partial } = device;
  const earlier = { sourceFaults, bytes: null };
  const task = { active, partition: 0, move: active.ring.moves[0] ?? null, earlier };
  const loading = loadPartition(
    { store, devices, decide, throttle, partial },
    { ...task, onProgress: ({ reason }) => void (reason && reasons.push(reason)) },
  );
  return loading.then(() => 'loaded', codeIn);
}
