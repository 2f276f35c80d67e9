// Reads one key from as many slots as the level needs.
import { after, type Soon } from '@ringwright/base/soon';
import { compareStamps } from '@ringwright/base/stamp';
import type { Slot } from '@ringwright/ring/slots-of';
import { recordRead } from '@ringwright/wire/records';
import type { ActiveRing } from './active-ring.ts';
import type { DeviceCaller } from './device-caller.ts';
import { gatherSlots } from './gather-slots.ts';
import type { WireContent } from './wire-record.ts';

export interface ReadAnswer {
  readonly device: number;
  readonly record: WireContent | null;
}

interface Gather {
  readonly active: ActiveRing;
  readonly partition: number;
  readonly key: Uint8Array;
  readonly slots: readonly Slot[];
  readonly needed: number;
}

/** The first `needed` answers, as gatherSlots gives them. */
export function gatherReads(devices: DeviceCaller, gather: Gather): Soon<ReadAnswer[]> {
  const { active, partition, key, slots, needed } = gather;
  const request = { keyspace: active.ring.keyspace, ringVersion: active.ring.version, partition };
  const ask = (device: number) => devices.call({ active, device }, recordRead, { ...request, key });
  return after(gatherSlots({ active, slots, needed, ask }), (answers) =>
    answers.map(({ device, answer: { record } }) => ({ device, record })),
  );
}

/** The record with the highest stamp, a tombstone included; null when no device has any. */
export function newestOf(answers: readonly ReadAnswer[]): WireContent | null {
  let newest: WireContent | null = null;
  for (const { record } of answers) {
    if (record !== null && (newest === null || compareStamps(record, newest) > 0)) newest = record;
  }
  return newest;
}
