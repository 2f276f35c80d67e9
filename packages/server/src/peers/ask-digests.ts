// Asks other devices by digests what they hold of partitions.
import { CodedError } from '@ringwright/base/coded-error';
import type { AnswerOf } from '@ringwright/wire/message';
import { digestPartitionsMax, digests } from '@ringwright/wire/replication';
import type { ActiveRing } from '../rings/active-ring.ts';
import type { DeviceCaller, DeviceTarget } from './device-caller.ts';

/** Null if the device has no file of the partition. */
type Holding = AnswerOf<typeof digests>['holdings'][number];

/** Rejects with the device's CodedError or a PEER_ one. */
export async function holdingAt(
  devices: DeviceCaller,
  { active, partition }: { readonly active: ActiveRing; readonly partition: number },
  device: number,
): Promise<Holding> {
  const { keyspace, version: ringVersion } = active.ring;
  const request = { keyspace, ringVersion, partitions: [partition] };
  const { holdings } = await devices.call({ active, device }, digests, request);
  return holdings[0] ?? null;
}

/**
 * Asks about any number of partitions, in as many messages as needed. After a failure the device is
 * asked no more, and the result lacks the remaining partitions. `nowMs` is passed on.
 */
export async function holdingsAt(
  devices: DeviceCaller,
  to: DeviceTarget,
  { partitions, ...rest }: { readonly partitions: readonly number[]; readonly nowMs?: number },
): Promise<ReadonlyMap<number, Holding>> {
  const { keyspace, version: ringVersion } = to.active.ring;
  const told = new Map<number, Holding>();
  try {
    for (let start = 0; start < partitions.length; start += digestPartitionsMax) {
      const asked = partitions.slice(start, start + digestPartitionsMax);
      const request = { keyspace, ringVersion, partitions: asked, ...rest };
      const { holdings } = await devices.call(to, digests, request);
      for (const [index, partition] of asked.entries())
        told.set(partition, holdings[index] ?? null);
    }
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
  }
  return told;
}
