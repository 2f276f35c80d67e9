// Reads one key from as many slots as the level needs, hedging when one is slow.
import { CodedError } from '@ringwright/base/coded-error';
import { readHedgeMs } from '@ringwright/base/limits';
import type { Stamp } from '@ringwright/base/stamp';
import type { Slot } from '@ringwright/ring/slots-of';
import { recordRead } from '@ringwright/wire/records';
import type { ActiveRing } from './active-ring.ts';
import type { DeviceCaller } from './device-caller.ts';
import { type OutdatedRing, outdatedRing, tooFewSlots } from './spread-record.ts';

export interface ReadRecord extends Stamp {
  readonly value: Uint8Array | null;
}

export interface ReadAnswer {
  readonly device: number;
  readonly record: ReadRecord | null;
}

interface Gather {
  readonly active: ActiveRing;
  readonly partition: number;
  readonly key: Uint8Array;
  readonly slots: readonly Slot[];
  readonly needed: number;
}

/**
 * Asks `needed` devices, this one first; another for each that fails, all the rest when the hedge
 * time has passed.
 * Resolves with the first `needed` answers. Rejects like spreadRecord.
 */
export function gatherReads(devices: DeviceCaller, gather: Gather): Promise<ReadAnswer[]> {
  const { active, partition, key, slots, needed } = gather;
  const waiting = readOrder(slots, active.self);
  const answers: ReadAnswer[] = [];
  const said = new Map<number, string>();
  let outdated: OutdatedRing | null = null;
  return new Promise((resolve, reject) => {
    const hedge = setTimeout(() => {
      while (waiting.length > 0) askNext();
    }, readHedgeMs);
    const finish = (end: () => void): void => {
      clearTimeout(hedge);
      end();
    };
    const askNext = (): void => {
      const device = waiting.shift();
      if (device === undefined) return;
      const { keyspace, version } = active.ring;
      const request = { keyspace, ringVersion: version, partition, key };
      devices.call({ active, device }, recordRead, request).then(
        ({ record }) => {
          answers.push({ device, record });
          if (answers.length === needed) finish(() => resolve([...answers]));
        },
        (error: unknown) => {
          said.set(device, error instanceof CodedError ? error.code : String(error));
          outdated ??= outdatedRing(error, { active, device });
          if (slots.length - said.size < needed) {
            const tooFew = tooFewSlots(answers.length, { slots: slots.length, needed, said });
            finish(() => reject(outdated ?? tooFew));
          } else askNext();
        },
      );
    };
    for (let asked = 0; asked < needed; asked += 1) askNext();
  });
}

/** This device first (no network), then the others in replica order. */
function readOrder(slots: readonly Slot[], self: number | null): number[] {
  const devices = slots.map(({ device }) => device);
  return [...devices.filter((id) => id === self), ...devices.filter((id) => id !== self)];
}
