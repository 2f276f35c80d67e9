// Asks as many slots as a consistency level needs, and hedges when one is slow. The caller says
// what to ask.
import { CodedError } from '@ringwright/base/coded-error';
import { readHedgeMs } from '@ringwright/base/limits';
import type { MaybePromise } from '@ringwright/base/maybe-promise';
import { distance } from '@ringwright/ring/place';
import type { Slot } from '@ringwright/ring/slots-of';
import type { ActiveRing } from '../rings/active-ring.ts';
import { type OutdatedRing, outdatedRing, tooFewSlots } from './quorum-write.ts';

export interface SlotAnswer<Answer> {
  readonly device: number;
  readonly answer: Answer;
}

interface Gather<Answer> {
  readonly active: ActiveRing;
  readonly slots: readonly Slot[];
  readonly needed: number;
  /**
   * Sends the request to a device. `place`: how many devices were asked before it. Must not throw;
   * a failure is a rejected promise.
   */
  readonly ask: (device: number, place: number) => MaybePromise<Answer>;
}

/**
 * Asks `needed` devices: this device and near ones first, one more for each that fails, and all the
 * rest once the hedge time has passed. Returns the first `needed` answers, synchronously if this
 * device gives all of them. Rejects like quorumWrite.
 */
export function askSlots<Answer>(gather: Gather<Answer>): MaybePromise<SlotAnswer<Answer>[]> {
  const { active, slots, needed, ask } = gather;
  const waiting = readOrder(slots, active);
  const answers: SlotAnswer<Answer>[] = [];
  const open: Open<Answer>[] = [];
  for (const [place, device] of waiting.splice(0, needed).entries()) {
    const answer = ask(device, place);
    if (answer instanceof Promise) open.push({ device, answer });
    else answers.push({ device, answer });
  }
  if (answers.length === needed) return answers;
  return awaitSlots({ ...gather, answers, open, waiting });
}

interface Open<Answer> {
  readonly device: number;
  readonly answer: Promise<Answer>;
}

interface Asking<Answer> extends Gather<Answer> {
  /** The answers so far. */
  readonly answers: SlotAnswer<Answer>[];
  /** Devices that were asked and have not answered yet. */
  readonly open: readonly Open<Answer>[];
  /** Devices that were not asked yet. */
  readonly waiting: number[];
}

function awaitSlots<Answer>(asking: Asking<Answer>): Promise<SlotAnswer<Answer>[]> {
  const { active, slots, needed, ask, answers, open, waiting } = asking;
  const said = new Map<number, string>();
  let outdated: OutdatedRing | null = null;
  let ended = false;
  return new Promise((resolve, reject) => {
    const hedge = setTimeout(() => {
      while (waiting.length > 0) askNext();
    }, readHedgeMs);
    const finish = (end: () => void): void => {
      ended = true;
      clearTimeout(hedge);
      end();
    };
    const askNext = (): void => {
      const place = slots.length - waiting.length;
      const device = waiting.shift();
      if (device !== undefined) follow(device, ask(device, place));
    };
    const follow = (device: number, pending: MaybePromise<Answer>): void => {
      Promise.resolve(pending).then(
        (answer) => {
          answers.push({ device, answer });
          if (answers.length === needed) finish(() => resolve([...answers]));
        },
        (error: unknown) => {
          said.set(device, error instanceof CodedError ? error.code : String(error));
          outdated ??= outdatedRing(error, { active, device });
          if (ended) return;
          const possible = slots.length - said.size;
          if (possible < needed) {
            const tally = { acked: answers.length, possible };
            const tooFew = tooFewSlots(tally, { slots: slots.length, needed, said });
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
  const here = self === null ? null : (ring.devices[self] ?? null);
  const rank = ({ device, joiner }: Slot): number => {
    const there = ring.devices[device] ?? null;
    const far = here === null || there === null ? 0 : distance(here, there);
    return (joiner === null ? 0 : 4) + (device === self ? 0 : 1 + far);
  };
  const order = slots.length > 1 ? slots.toSorted((a, b) => rank(a) - rank(b)) : slots;
  return order.map(({ device }) => device);
}
