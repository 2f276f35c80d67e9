// Asks as many slots as a level needs, hedging when one is slow; what is asked is the caller's.
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
  /** `place`: how many were asked before. Throws nothing: a failure is a rejection. */
  readonly ask: (device: number, place: number) => MaybePromise<Answer>;
}

/**
 * Asks `needed` devices, this one and near ones first; another for each that fails, all the rest
 * when the hedge time has passed. The first `needed` answers, at once when this device has all of
 * them. Rejects like quorumWrite.
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
  /** Given so far. */
  readonly answers: SlotAnswer<Answer>[];
  /** Asked and not answered yet. */
  readonly open: readonly Open<Answer>[];
  /** Not asked yet. */
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
 * Slots in flight last: what they alone have must be written to their joiners before it is shown.
 * This device before others (no network), then those of its zone, of its region, and the rest: a
 * read whose level the region can give crosses no ocean. Those as near in replica order.
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
