// Drops old tombstones when every holder has them: one device asks all holders to promise, compares
// them, and raises the floor. The proof is in packages/partition/src/file/FLOORS.md.
import { setImmediate } from 'node:timers/promises';
import { CodedError } from '@ringwright/base/coded-error';
import { tombstoneAgeMsMin } from '@ringwright/base/limits-store';
import type { Store } from '@ringwright/partition/store';
import { retiringIn } from '@ringwright/ring/reshape-ring';
import { slotsOf } from '@ringwright/ring/slots-of';
import { floorPromise, floorRaise } from '@ringwright/wire/floors';
import type { DeviceCaller } from '../peers/device-caller.ts';
import { holdingAt, usableInfo } from '../peers/holdings.ts';
import type { ActivePartition, ActiveRing } from '../rings/active-ring.ts';

export interface FloorPorts {
  readonly store: Store;
  readonly devices: DeviceCaller;
  readonly nowMs: () => number;
  /** Throws while nothing may be dropped: tombstones are data too. */
  readonly requireDropsAllowed: (active: ActiveRing) => void;
}

/**
 * Tries once for each partition that has tombstones or expired records, and whose first slot is
 * this device's. Resolves to how many floors were raised everywhere. The next round tries again
 * what has failed. Begins no more partitions once the signal is aborted.
 */
export async function raiseFloors(
  ports: FloorPorts,
  active: ActiveRing,
  signal?: AbortSignal,
): Promise<number> {
  const { ring, self } = active;
  const floorMs = ports.nowMs() - tombstoneAgeMsMin;
  const moving = new Set([...ring.moves.map(({ partition }) => partition), ...retiringIn(ring)]);
  let raised = 0;
  for (let partition = 0; partition < ring.partitions; partition += 1) {
    if (signal?.aborted === true) break;
    if (ring.table[0]?.[partition] !== self || moving.has(partition)) continue;
    const info = usableInfo(ports.store, ring.keyspace, partition);
    if (info?.state !== 'ready' || info.rows + info.tombstones === 0) continue;
    await setImmediate(); // the file may have to be opened
    try {
      const old = info.tombstones + (await ports.store.expired(ring.keyspace, partition, floorMs));
      if (old === 0) continue;
      ports.requireDropsAllowed(active);
      raised += (await raiseFloor(ports, { active, partition, floorMs })) ? 1 : 0;
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
    }
  }
  return raised;
}

/**
 * Returns false if the holders' contents differ at the moment: then nothing is dropped. Throws the
 * error of a holder that is unreachable, incomplete or on another ring. Floors raised before that
 * are safe.
 */
export async function raiseFloor(
  { devices }: Pick<FloorPorts, 'devices'>,
  task: ActivePartition & { readonly floorMs: number },
): Promise<boolean> {
  const { active, partition, floorMs } = task;
  const { keyspace, version } = active.ring;
  const scope = { keyspace, ringVersion: version, partition };
  const holders = [...new Set(slotsOf(active.ring, partition).map(({ device }) => device))];
  const askHoldings = () => Promise.all(holders.map((device) => holdingAt(devices, task, device)));
  // A promise without a raised floor would keep reads from repairing old records that differ.
  if (!isEqual(await askHoldings())) return false;
  const promises = await Promise.all(
    holders.map(async (device) =>
      devices.call({ active, device }, floorPromise, { ...scope, floorMs }),
    ),
  );
  // Only after every promise: equal digests then mean that no holder lacks anything below the
  // floor.
  // failpoint: floors.promised
  const holdings = await askHoldings();
  const isUnchanged = holdings.every(
    (holding, index) => holding?.incarnation === promises[index]?.incarnation,
  );
  if (!isUnchanged || !isEqual(holdings)) return false;
  const raises = promises.map(async ({ incarnation }, index) => {
    const to = { active, device: holders[index] ?? -1 };
    return devices.call(to, floorRaise, { ...scope, floorMs, incarnation });
  });
  await Promise.allSettled(raises);
  await Promise.all(raises);
  return true;
}

function isEqual(holdings: readonly ({ readonly digest: string } | null)[]): boolean {
  return new Set(holdings.map((holding) => holding?.digest)).size === 1;
}
