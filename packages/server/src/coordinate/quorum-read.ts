// Reads one key from as many slots as the level needs: the record from one, the stamps from the
// others.
import { must } from '@ringwright/base/assert';
import { andThen, type MaybePromise } from '@ringwright/base/maybe-promise';
import { compareStamps, type Stamp } from '@ringwright/base/stamp';
import type { Slot } from '@ringwright/ring/slots-of';
import { recordRead, recordStamp } from '@ringwright/wire/records';
import type { DeviceCaller } from '../peers/device-caller.ts';
import type { WireContent } from '../replica/wire-record.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import { askSlots, type SlotAnswer } from './ask-slots.ts';

/** What `needed` slots hold. */
export interface GatheredRead {
  /** The record with the highest stamp, tombstones included; null when no device has any. */
  readonly newest: WireContent | null;
  /** The devices that answered and hold it. */
  readonly holders: readonly number[];
}

interface Gather {
  readonly active: ActiveRing;
  readonly partition: number;
  readonly key: Uint8Array;
  readonly slots: readonly Slot[];
  readonly needed: number;
}

/**
 * Reads a key. Stamps tell who holds the newest record, and values are long. So one device sends
 * its record, and the others that are asked at once send stamps (Cassandra's digest reads). Devices
 * that replace a slow or failed one send records. If the highest stamp came without its record, all
 * devices are asked again for their records: an independent read, whatever was written in the
 * meantime. Rejects like askSlots.
 */
export function quorumRead(devices: DeviceCaller, gather: Gather): MaybePromise<GatheredRead> {
  const { slots, needed } = gather;
  return andThen(
    gatherAnswers(devices, gather, (place) => place === 0 || place >= needed),
    (some) => {
      const found = newestIn(some);
      if (found !== null) return found;
      // Within each group of readOrder, devices that have just answered come first, so a slow one
      // seldom delays the read twice.
      const answered = new Set(some.map(({ device }) => device));
      const rank = ({ device }: Slot): number => (answered.has(device) ? 0 : 1);
      const again = { ...gather, slots: [...slots].sort((a, b) => rank(a) - rank(b)) };
      return andThen(
        gatherAnswers(devices, again, () => true),
        (all) => must(newestIn(all), 'whole records have a newest one'),
      );
    },
  );
}

type Found = SlotAnswer<WireContent | Stamp | null>;

function gatherAnswers(
  devices: DeviceCaller,
  { active, partition, key, slots, needed }: Gather,
  isWhole: (place: number) => boolean,
): MaybePromise<Found[]> {
  const { keyspace, version: ringVersion } = active.ring;
  const request = { keyspace, ringVersion, partition, key };
  const record = (device: number): MaybePromise<WireContent | null> =>
    andThen(devices.call({ active, device }, recordRead, request), (answer) => answer.record);
  const stamp = (device: number): MaybePromise<Stamp | null> =>
    andThen(devices.call({ active, device }, recordStamp, request), (answer) => answer.stamp);
  const ask = (device: number, place: number): MaybePromise<WireContent | Stamp | null> =>
    isWhole(place) ? record(device) : stamp(device);
  return askSlots({ active, slots, needed, ask });
}

/** Returns null when the devices that hold the newest record sent only its stamp. */
function newestIn(answers: readonly Found[]): GatheredRead | null {
  const stamp = newestOf(answers.map(({ answer }) => answer));
  if (stamp === null) return { newest: null, holders: [] };
  let newest: WireContent | undefined;
  const holders: number[] = [];
  for (const { device, answer } of answers) {
    if (answer === null || compareStamps(answer, stamp) !== 0) continue;
    holders.push(device);
    if (isRecord(answer)) newest = answer;
  }
  return newest === undefined ? null : { newest, holders };
}

function isRecord(found: WireContent | Stamp | null): found is WireContent {
  return found !== null && 'value' in found;
}

/** Returns the item with the highest stamp, tombstones included; null when there is none. */
export function newestOf<Kind extends Stamp>(records: readonly (Kind | null)[]): Kind | null {
  let newest: Kind | null = null;
  for (const record of records) {
    if (record !== null && (newest === null || compareStamps(record, newest) > 0)) newest = record;
  }
  return newest;
}
