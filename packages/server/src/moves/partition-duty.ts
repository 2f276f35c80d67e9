// GET /v1/duty/RING/PARTITION: the duties that a ring gives each device of a partition, and what
// this device has.
import { CodedError } from '@ringwright/base/coded-error';
import { formatAddress } from '@ringwright/base/server-address';
import type { PartitionInfo } from '@ringwright/partition/file/partition-info';
import type { Store } from '@ringwright/partition/store';
import { type Duty, dutyOf } from '@ringwright/ring/duty-of';
import type { Move } from '@ringwright/ring/move';
import { holdersOf, movesOf } from '@ringwright/ring/slots-of';
import { usableInfo } from '../peers/holdings.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import type { Reconciler } from './reconciler.ts';

interface DutyPorts {
  readonly store: Store;
  readonly reconciler: Pick<Reconciler, 'draining' | 'progress'>;
}

interface DeviceDuty {
  /** Device id in the ring; `address` is where the device listens. */
  readonly device: number;
  readonly address: string;
  readonly duty: Duty['kind'];
  /** The move that brings the partition to this device. */
  readonly move: Move | null;
  /** Devices that must have every record that this device has. */
  readonly pushTo: readonly number[];
}

interface PartitionDuty {
  readonly ring: string;
  readonly version: number;
  readonly id: string;
  readonly partition: number;
  /**
   * The version that last changed who takes reads or writes of the partition. Requests with older
   * versions are refused.
   */
  readonly minVersion: number;
  /**
   * The duty of this device; null if the ring does not name it. UNLOAD also where there never was a
   * file.
   */
  readonly here: (DeviceDuty & HereDuty) | null;
  /**
   * Every device that the partition concerns, also those it leaves: in replica order, joiners
   * included.
   */
  readonly devices: readonly DeviceDuty[];
}

interface HereDuty {
  readonly file: HeldFile | null;
  /** The progress of the load, or why the file is still here; null when the duty is done. */
  readonly waits: string | null;
}

/** The file of the partition on this device. */
type HeldFile = Omit<PartitionInfo, 'keyspace' | 'partition' | 'barrierMs' | 'floorMs'>;

/** Throws VALUE_OUT_OF_RANGE for a partition that the ring does not have. */
export function partitionDuty(
  { store, reconciler }: DutyPorts,
  active: ActiveRing,
  word: string,
): PartitionDuty {
  const { ring, id, self } = active;
  const partition = /^\d{1,8}$/.test(word) ? Number(word) : Number.NaN;
  const minVersion = ring.minVersions[partition];
  if (minVersion === undefined) {
    const range = `ring '${ring.keyspace}' has partitions 0 to ${ring.partitions - 1}`;
    const message = `partition ${JSON.stringify(word)} does not exist: ${range}`;
    throw new CodedError('VALUE_OUT_OF_RANGE', message, {
      hint: `ring-builder lookup ${ring.keyspace} KEY shows the partition of a key`,
      details: { partition: word, partitions: ring.partitions },
    });
  }
  const ownDuty = self === null ? null : deviceDuty(active, partition, self);
  return {
    ...{ ring: ring.keyspace, version: ring.version, id, partition, minVersion },
    here: ownDuty && {
      ...ownDuty,
      file: heldFile(store, ring.keyspace, partition),
      waits: whyWaits(reconciler, ring.keyspace, partition),
    },
    devices: holdersOf(ring, partition).map((device) => deviceDuty(active, partition, device)),
  };
}

function whyWaits(
  reconciler: DutyPorts['reconciler'],
  keyspace: string,
  partition: number,
): string | null {
  const draining = reconciler.draining(keyspace).get(partition);
  if (draining !== undefined) return draining;
  const load = reconciler.progress(keyspace).find((one) => one.partition === partition);
  if (load === undefined || load.stage === 'available') return null;
  return load.reason === '' ? load.stage : `${load.stage}: ${load.reason}`;
}

function deviceDuty({ ring }: ActiveRing, partition: number, device: number): DeviceDuty {
  const { kind, pushTo } = dutyOf(ring, partition, device);
  const found = ring.devices[device];
  const address = found === null || found === undefined ? '' : formatAddress(found);
  const move = movesOf(ring, partition).find(({ to }) => to === device) ?? null;
  return { device, address, duty: kind, move, pushTo };
}

function heldFile(store: Store, keyspace: string, partition: number): HeldFile | null {
  const info = usableInfo(store, keyspace, partition);
  if (info === null) return null;
  const { state, incarnation, seq, rows, tombstones, bytes, digest } = info;
  return { state, incarnation, seq, rows, tombstones, bytes, digest };
}
