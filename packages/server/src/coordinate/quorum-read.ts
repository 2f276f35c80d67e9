// Reads from as many slots as a level needs, hedging when one is slow: of one key the record of
// one, the stamps of the others.
import { must } from '@ringwright/base/assert';
import { readHedgeMs } from '@ringwright/base/limits';
import { andThen, type MaybePromise } from '@ringwright/base/maybe-promise';
import { compareStamps, type Stamp } from '@ringwright/base/stamp';
import { distance } from '@ringwright/ring/failure-domain';
import type { Slot } from '@ringwright/ring/slots-of';
import type { AnswerOf } from '@ringwright/wire/message';
import { recordRead, recordStamp } from '@ringwright/wire/records';
import type { DeviceCaller } from '../peers/device-caller.ts';
import type { WireContent } from '../replica/wire-record.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import { codeOfFailure, type OutdatedRing, outdatedRing, tooFewSlots } from './quorum-write.ts';

/** What `needed` slots hold. */
export interface QuorumReadResult {
  /** The record with the highest stamp, tombstones included; null when no device has any. */
  readonly newest: WireContent | null;
  /** The devices that answered and hold it. */
  readonly holders: readonly number[];
}

export interface QuorumReadRequest {
  readonly active: ActiveRing;
  readonly partition: number;
  readonly key: Uint8Array;
  readonly slots: readonly Slot[];
  readonly needed: number;
  /** This device's answer, if it was asked already. */
  readonly own?: Promise<AnswerOf<typeof recordRead>> | undefined;
}

/**
 * Reads a key. Stamps tell who holds the newest record, and values are long. So one device sends
 * its record, and the others that are asked at once send stamps (Cassandra's digest reads). Devices
 * that replace a slow or failed one send records too, unless one has arrived. If the highest stamp
 * came without its record, all devices are asked again for their records: an independent read,
 * whatever was written in the meantime. Rejects like askSlots.
 */
export function quorumRead(
  devices: DeviceCaller,
  gather: QuorumReadRequest,
): MaybePromise<QuorumReadResult> {
  const { slots, needed } = gather;
  return andThen(
    readSlots(
      devices,
      gather,
      (index, hasRecord) => index === 0 || (index >= needed && !hasRecord),
    ),
    (answers) => {
      const found = newestIn(answers);
      if (found !== null) return found;
      // Within each group of readOrder, devices that have just answered come first, so a slow one
      // seldom delays the read twice.
      const answered = new Set(answers.map(({ device }) => device));
      const rank = ({ device }: Slot): number => (answered.has(device) ? 0 : 1);
      const retry = { ...gather, slots: [...slots].sort((a, b) => rank(a) - rank(b)) };
      return andThen(
        readSlots(devices, retry, () => true),
        (all) => must(newestIn(all), 'whole records have a newest one'),
      );
    },
  );
}

type Found = SlotAnswer<WireContent | Stamp | null>;

function readSlots(
  devices: DeviceCaller,
  { active, partition, key, slots, needed, own }: QuorumReadRequest,
  isWhole: (index: number, hasRecord: boolean) => boolean,
): MaybePromise<Found[]> {
  const { keyspace, version: ringVersion } = active.ring;
  const request = { keyspace, ringVersion, partition, key };
  let hasRecord = false;
  const record = (device: number): MaybePromise<WireContent | null> =>
    andThen(
      device === active.self && own !== undefined
        ? own
        : devices.call({ active, device }, recordRead, request),
      (answer) => {
        hasRecord ||= answer.record !== null;
        return answer.record;
      },
    );
  const stamp = (device: number): MaybePromise<Stamp | null> =>
    andThen(devices.call({ active, device }, recordStamp, request), (answer) => answer.stamp);
  const ask = (device: number, index: number): MaybePromise<WireContent | Stamp | null> =>
    isWhole(index, hasRecord) ? record(device) : stamp(device);
  return askSlots({ active, slots, needed, ask });
}

/** Returns null when the devices that hold the newest record sent only its stamp. */
function newestIn(answers: readonly Found[]): QuorumReadResult | null {
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

interface SlotAnswer<Answer> {
  readonly device: number;
  readonly answer: Answer;
}

interface SlotQuestion<Answer> {
  readonly active: ActiveRing;
  readonly slots: readonly Slot[];
  readonly needed: number;
  /**
   * Sends the request to a device. `index`: how many devices were asked before it. Must not throw;
   * a failure is a rejected promise.
   */
  readonly ask: (device: number, index: number) => MaybePromise<Answer>;
}

/**
 * Asks `needed` devices: this device and near ones first, one more for each that fails, and all the
 * rest once the hedge time has passed. Returns the first `needed` answers, synchronously if this
 * device gives all of them. Rejects like quorumWrite.
 */
export function askSlots<Answer>(
  question: SlotQuestion<Answer>,
): MaybePromise<SlotAnswer<Answer>[]> {
  const { active, slots, needed, ask } = question;
  const remaining = readOrder(slots, active);
  const answers: SlotAnswer<Answer>[] = [];
  const open: Open<Answer>[] = [];
  for (const [index, device] of remaining.splice(0, needed).entries()) {
    const answer = ask(device, index);
    if (answer instanceof Promise) open.push({ device, answer });
    else answers.push({ device, answer });
  }
  if (answers.length === needed) return answers;
  return awaitSlots({ ...question, answers, open, remaining });
}

interface Open<Answer> {
  readonly device: number;
  readonly answer: Promise<Answer>;
}

interface Asking<Answer> extends SlotQuestion<Answer> {
  /** The answers so far. */
  readonly answers: SlotAnswer<Answer>[];
  /** Devices that were asked and have not answered yet. */
  readonly open: readonly Open<Answer>[];
  /** Devices that were not asked yet. */
  readonly remaining: number[];
}

function awaitSlots<Answer>(asking: Asking<Answer>): Promise<SlotAnswer<Answer>[]> {
  const { active, slots, needed, ask, answers, open, remaining } = asking;
  const codes = new Map<number, string>();
  let outdated: OutdatedRing | null = null;
  let isEnded = false;
  return new Promise((resolve, reject) => {
    const hedge = setTimeout(() => {
      while (remaining.length > 0) askNext();
    }, readHedgeMs);
    const finish = (end: () => void): void => {
      isEnded = true;
      clearTimeout(hedge);
      end();
    };
    const askNext = (): void => {
      const index = slots.length - remaining.length;
      const device = remaining.shift();
      if (device !== undefined) follow(device, ask(device, index));
    };
    const follow = (device: number, pending: MaybePromise<Answer>): void => {
      Promise.resolve(pending).then(
        (answer) => {
          answers.push({ device, answer });
          if (answers.length === needed) finish(() => resolve([...answers]));
        },
        (error: unknown) => {
          codes.set(device, codeOfFailure(error));
          outdated ??= outdatedRing(error, { active, device });
          if (isEnded) return;
          const possible = slots.length - codes.size;
          if (possible < needed) {
            const tally = { acked: answers.length, possible };
            const tooFew = tooFewSlots(tally, { slots: slots.length, needed, codes });
            finish(() => reject(outdated ?? tooFew));
          } else askNext();
        },
      );
    };
    for (const { device, answer } of open) follow(device, answer);
  });
}

/**
 * Sorts slots in flight last: what only such a slot has must be written to its joiner before it is
 * shown. Then this device (no network), devices of its zone, of its region, and the rest, so a read
 * that the region can satisfy crosses no ocean. Equally near devices stay in replica order.
 */
function readOrder(slots: readonly Slot[], { self, ring }: ActiveRing): number[] {
  const ownDevice = self === null ? null : (ring.devices[self] ?? null);
  const rank = ({ device, joiner }: Slot): number => {
    const otherDevice = ring.devices[device] ?? null;
    const far = ownDevice === null || otherDevice === null ? 0 : distance(ownDevice, otherDevice);
    return (joiner === null ? 0 : 4) + (device === self ? 0 : 1 + far);
  };
  const order = slots.length > 1 ? slots.toSorted((a, b) => rank(a) - rank(b)) : slots;
  return order.map(({ device }) => device);
}
