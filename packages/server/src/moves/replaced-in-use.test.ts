// A file that is found damaged and replaced while its load or takeover runs, on real stores.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from '@ringwright/node/wait-for';
import { digests, rowsSince } from '@ringwright/wire/replication';
import { expect, test } from 'vitest';
import { moveVersions, servedRing } from '../../../../test/support/served-ring.ts';
import { StoreCluster, type StoreDevice } from '../../../../test/support/store-cluster.ts';
import { freeThrottle } from '../copies/throttle-control.ts';
import { OnceComplete } from '../device/once-complete.ts';
import { CompleteFiles } from './complete-files.ts';
import { DropGuard } from './drop-guard.ts';
import { MoveControls } from './move-controls.ts';
import { Reconciler } from './reconciler.ts';

const keyspace = 'cities';
const first = servedRing({ power: 0 });
/** Device 3 joins for device 2. */
const versions = [first, ...moveVersions(first, [{ partition: 0, replica: 2, from: 2, to: 3 }])];
const records = { a: '1', b: '2' };

async function reconcilerOf(device: StoreDevice): Promise<Reconciler> {
  const { store, devices, decide, throttle, inFlight } = device;
  const { directory } = store;
  return new Reconciler({
    ...{ store, devices, decide, throttle, inFlight },
    ...{
      guard: new DropGuard(join(directory, 'drops')),
      held: await CompleteFiles.load(directory),
    },
    controls: await MoveControls.load(directory),
    onceComplete: await OnceComplete.load(directory),
    current: () => device.active,
    loadThrottle: () => freeThrottle,
    monotonicMs: () => performance.now(),
    signReceipt: () => '',
    isUnknownPeer: () => Promise.resolve(false),
    requireDropsAllowed: () => undefined,
    whyUnnamed: () => null,
    address: '',
    onRepair: () => undefined,
    onDropped: () => undefined,
    onDrainEnded: () => undefined,
    onError: () => undefined,
  });
}

/** Puts another file in the place of the one in use, as a disk that was exchanged does. */
async function damage({ store }: StoreDevice): Promise<void> {
  const { incarnation } = store.info(keyspace, 0)!;
  const file = join(store.directory, 'partitions', keyspace, '0', incarnation, 'data.db');
  rmSync(file);
  writeFileSync(file, 'another file');
  expect((await store.checkOpenFiles()).lost).toHaveLength(1);
}

/** Lets the calls of a method wait at a device until `release`. */
function holding(device: StoreDevice, method: string) {
  const { promise, resolve } = Promise.withResolvers<void>();
  let asked = 0;
  device.onCall = async (called) => {
    if (called !== method) return;
    asked += 1;
    await promise;
  };
  return { release: resolve, wait: () => waitFor('a call', { ask: () => asked, until: Boolean }) };
}

async function isReady(device: StoreDevice): Promise<void> {
  const ask = (): string | undefined => device.info(0)?.state;
  await waitFor('a complete file', { ask, until: (state) => state === 'ready' });
}

test('a file that is replaced during its takeover does not count as complete', async () => {
  await using cluster = await StoreCluster.open(versions);
  await cluster.create(0, [0, 1, 2]);
  for (const device of cluster.devices.slice(0, 3)) await device.put(0, records);
  cluster.activate(3);
  const [other, , , joiner] = cluster.devices;
  const reconciler = await reconcilerOf(joiner!);
  const assignment = joiner!.active.ring.moves[0]!.assignment;
  reconciler.reconcile(keyspace);
  const ask = () => reconciler.receipts(keyspace, [assignment]).length;
  await waitFor('the load', { ask, until: Boolean });
  cluster.activate(4);
  const held = holding(other!, digests.method);
  reconciler.reconcile(keyspace);
  await held.wait();
  await damage(joiner!);
  reconciler.reconcile(keyspace);
  await reconciler.idle(keyspace);
  held.release();
  await isReady(joiner!);
  expect([joiner!.value(0, 'a'), joiner!.value(0, 'b')]).toEqual(['1', '2']);
  await reconciler.close();
});

test('a file that is replaced during its refill does not count as complete', async () => {
  await using cluster = await StoreCluster.open([first]);
  await cluster.create(0, [0, 1]);
  await cluster.create(0, [2], 'filling');
  const [whole, other, refilled] = cluster.devices;
  await whole!.put(0, records);
  await other!.put(0, { b: '2' });
  const reconciler = await reconcilerOf(refilled!);
  const held = holding(other!, rowsSince.method);
  reconciler.reconcile(keyspace);
  await held.wait();
  expect(refilled!.value(0, 'a')).toBe('1');
  await damage(refilled!);
  reconciler.reconcile(keyspace);
  await reconciler.idle(keyspace);
  held.release();
  await isReady(refilled!);
  expect([refilled!.value(0, 'a'), refilled!.value(0, 'b')]).toEqual(['1', '2']);
  await reconciler.close();
});
