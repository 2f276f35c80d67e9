// Faults of copies in a ring change: cut or flipped bytes, and joiners with a full disk.
import { pick, type Random } from '@ringwright/base/random';
import type { Ring } from '@ringwright/ring/ring';
import { CopyFault, type CopyFaultShape, copyFaultPlaces } from '../copy-fault.ts';
import { lasts, until } from '../nemesis.ts';
import type { Stage } from '../stage.ts';
import type { Victim } from '../victim.ts';
import { leastOf } from './least-of.ts';

/** Damaged copies per rollout. Then copies succeed, so that moves complete all the time. */
const HARMED_MAX = 3;
/** Long enough for the joiner to refuse, and too short for a rollout to stop waiting. */
const NO_ROOM_MS = 3_000;
/** One in this many joiners has a full disk; NO_ROOM_FIRST applies until that has happened. */
const NO_ROOM_EVERY = 6;
const NO_ROOM_FIRST = 2;
const NO_ROOM = 'rings: joiner without room';
const REFUSED = /bytes are free, \d+ are needed/;

/** A cut in values would be the same as a cut in pages. */
const shapes: readonly CopyFaultShape[] = (['cut', 'flip'] as const).flatMap((how) =>
  copyFaultPlaces
    .filter((place) => how === 'flip' || place !== 'values')
    .map((place) => ({ how, place })),
);

const nameOf = ({ how, place }: CopyFaultShape): string => `rings: copy ${how} in its ${place}`;

export const plannedCopyTroubles: readonly string[] = [...shapes.map(nameOf), NO_ROOM];

/** Damages copies to the joiners of a ring, one after the other, until `over`. */
export async function troubleCopies(
  stage: Stage,
  {
    random,
    ring,
    over,
  }: { readonly random: Random; readonly ring: Ring; readonly over: AbortSignal },
): Promise<void> {
  const ids = new Set(ring.moves.map(({ to }) => to));
  const joiners = stage.victims.filter((victim) => ids.has(victim.idIn(ring)));
  if (joiners.length === 0) return;
  const joiner = pick(random, joiners);
  const hasHappened = stage.faults.some(({ name }) => name === NO_ROOM);
  const every = hasHappened ? NO_ROOM_EVERY : NO_ROOM_FIRST;
  if (random.below(every) === 0) return stage.fault(NO_ROOM, [], () => fillUp(joiner, over));
  for (let harmed = 0; harmed < HARMED_MAX && !over.aborted; harmed += 1) {
    const shape = leastOf(stage, shapes, { nameOf, random });
    await harmOne(stage, joiner, { shape, random, over });
  }
}

/** Damages one copy to the joiner. A fault that did not happen before `over` is not recorded. */
async function harmOne(
  stage: Stage,
  joiner: Victim,
  harm: { readonly shape: CopyFaultShape; readonly random: Random; readonly over: AbortSignal },
): Promise<void> {
  const { shape, random, over } = harm;
  const { number } = joiner.place;
  const fault = new CopyFault(shape, random);
  await stage.fault(nameOf(shape), [], async () => {
    stage.network.harmCopies(number, fault);
    await until(over, () => fault.isFired);
    stage.network.harmCopies(number, null);
    return fault.isFired ? undefined : 'spared';
  });
}

/** Makes the joiner refuse copies for a while. */
async function fillUp(joiner: Victim, over: AbortSignal): Promise<'spared' | void> {
  joiner.set({ diskFull: true });
  await lasts(NO_ROOM_MS, over);
  const hasRefused = await refusesForRoom(joiner);
  joiner.set({ diskFull: false });
  if (!hasRefused) return 'spared';
}

/** Reads the status, because the log reports the refusal once and then only counts. */
async function refusesForRoom({ server }: Victim): Promise<boolean> {
  const status = await server.status().catch(() => null);
  const loads = status?.rings.flatMap((ring) => ring.loads) ?? [];
  return loads.some(({ reason }) => REFUSED.test(reason));
}
