// The first half of a round: devices promise to take nothing older than the ballot, and return the
// records that they hold.
import { CodedError } from '@ringwright/base/coded-error';
import { roundTurnMs } from '@ringwright/base/limits';
import { compareStamps, type Stamp } from '@ringwright/base/stamp';
import { joinersOfNewSlots, type Slot } from '@ringwright/ring/slots-of';
import { recordPrepare } from '@ringwright/wire/records';
import type { DeviceCaller } from '../peers/device-caller.ts';
import type { WireContent } from '../replica/wire-record.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import { type OutdatedRing, outdatedRing, tooFewSlots } from './quorum-write.ts';
import { slotDevices, tallySlots } from './slot-acks.ts';

interface Prepare {
  readonly active: ActiveRing;
  readonly partition: number;
  readonly key: Uint8Array;
  readonly slots: readonly Slot[];
  readonly needed: number;
  readonly ballot: Stamp;
}

type Prepared =
  /** `needed` slots have promised; `records` are what their devices in the table hold. */
  | { readonly kind: 'given'; readonly records: readonly (WireContent | null)[] }
  /** Too many devices hold or have promised something higher; `above` is the highest of that. */
  | { readonly kind: 'refused'; readonly above: Stamp };

/**
 * Prepares a round at a quorum. The device of the first slot is asked first, because it queues the
 * rounds of the key. The others are asked when it has answered, or after roundTurnMs. Rejects like
 * quorumWrite.
 */
export function prepareKey(devices: DeviceCaller, prepare: Prepare): Promise<Prepared> {
  const { active, partition, key, slots, needed, ballot } = prepare;
  const { keyspace, version } = active.ring;
  const request = { keyspace, ringVersion: version, partition, key, ...ballot };
  const servers = new Set(slots.map(({ device }) => device));
  const records: (WireContent | null)[] = [];
  const answered = new Map<number, boolean>();
  const said = new Map<number, string>();
  let above: Stamp | null = null;
  let outdated: OutdatedRing | null = null;
  return new Promise((resolve, reject) => {
    const finish = (device: number, isGiven: boolean): void => {
      answered.set(device, isGiven);
      const tally = tallySlots(slots, answered);
      if (tally.acked >= needed) resolve({ kind: 'given', records: [...records] });
      else if (tally.possible >= needed) return;
      else if (outdated !== null) reject(outdated);
      else if (above !== null) resolve({ kind: 'refused', above });
      else reject(tooFewSlots(tally, { slots: slots.length, needed, said, outcome: 'rejected' }));
    };
    const [first = -1, ...others] = slotDevices(slots);
    others.push(...joinersOfNewSlots(active.ring, partition));
    const askOthers = (): void => {
      clearTimeout(hedge);
      for (const device of others.splice(0)) ask(device);
    };
    const hedge = setTimeout(askOthers, roundTurnMs);
    const ask = (device: number): void => {
      Promise.resolve(devices.call({ active, device }, recordPrepare, request)).then(
        (answer) => {
          said.set(device, answer.kind);
          if (answer.kind === 'refused') {
            const { ms, tie } = answer;
            if (above === null || compareStamps(answer, above) > 0) above = { ms, tie };
            if (device === first && others.length > 0) {
              clearTimeout(hedge);
              resolve({ kind: 'refused', above });
              return;
            }
          } else if (servers.has(device)) records.push(answer.record);
          finish(device, answer.kind === 'given' && (answer.serves || !servers.has(device)));
          if (device === first) askOthers();
        },
        (error: unknown) => {
          said.set(device, error instanceof CodedError ? error.code : String(error));
          outdated ??= outdatedRing(error, { active, device });
          finish(device, false);
          if (device === first) askOthers();
        },
      );
    };
    ask(first);
  });
}
