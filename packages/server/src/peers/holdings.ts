// What is held of partitions: by other devices, as they tell when they are asked for digests, and
// here in files that can be used.
import { CodedError, hasCode } from '@ringwright/base/coded-error';
import type { PartitionInfo } from '@ringwright/partition/file/partition-info';
import type { Store } from '@ringwright/partition/store';
import type { AnswerOf } from '@ringwright/wire/message';
import { digestPartitionsMax, digests } from '@ringwright/wire/replication';
import type { ActivePartition } from '../rings/active-ring.ts';
import type { DeviceCaller, DeviceTarget } from './device-caller.ts';

/** Null if the device has no file of the partition. */
export type Holding = AnswerOf<typeof digests>['holdings'][number];

/** Rejects with the device's CodedError or a PEER_ one. */
export async function holdingAt(
  devices: DeviceCaller,
  { active, partition }: ActivePartition,
  device: number,
): Promise<Holding> {
  const { keyspace, version: ringVersion } = active.ring;
  const request = { keyspace, ringVersion, partitions: [partition] };
  const { holdings } = await devices.call({ active, device }, digests, request);
  return holdings[0] ?? null;
}

interface HoldingsQuery {
  readonly partitions: readonly number[];
  readonly nowMs?: number;
  readonly onFailure?: (error: CodedError) => void;
}

/**
 * Asks about any number of partitions, in as many messages as needed. After a failure the device is
 * asked no more, and the result lacks the remaining partitions. `nowMs` is passed on.
 */
export async function holdingsAt(
  devices: DeviceCaller,
  to: DeviceTarget,
  { partitions, onFailure, ...rest }: HoldingsQuery,
): Promise<ReadonlyMap<number, Holding>> {
  const { keyspace, version: ringVersion } = to.active.ring;
  const holdingsByPartition = new Map<number, Holding>();
  try {
    for (let start = 0; start < partitions.length; start += digestPartitionsMax) {
      const batch = partitions.slice(start, start + digestPartitionsMax);
      const request = { keyspace, ringVersion, partitions: batch, ...rest };
      const { holdings } = await devices.call(to, digests, request);
      for (const [index, partition] of batch.entries())
        holdingsByPartition.set(partition, holdings[index] ?? null);
    }
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    onFailure?.(error);
  }
  return holdingsByPartition;
}

/** Null when there is no file here, or a damaged one, which waits to be replaced. */
export function usableInfo(
  store: Pick<Store, 'info'>,
  keyspace: string,
  partition: number,
): PartitionInfo | null {
  try {
    return store.info(keyspace, partition);
  } catch (error) {
    if (hasCode(error, 'PARTITION_DAMAGED')) return null;
    throw error;
  }
}
