// The faults of copies in a ring change: cut or flipped bytes, and joiners without room.
import { pick, type Random } from '@ringwright/base/random';
import type { Ring } from '@ringwright/ring/ring';
import { CopyFault, type CopyFaultShape, copyFaultPlaces } from '../copy-fault.ts';
import { lasts, until } from '../nemesis.ts';
import type { Stage } from '../stage.ts';
import type { Victim } from '../victim.ts';
import { leastOf } from './least-of.ts';

/** Of one rollout: then its copies come through, so that moves are finished all the time. */
const HARMED_MAX = 3;
/** The joiner has been refused, and a rollout has not given up yet. */
const NO_ROOM_MS = 3_000;
/** One joiner in so many is without room, and one in so many until that has happened once. */
const NO_ROOM_EVERY = 6;
const NO_ROOM_FIRST = 2;
const NO_ROOM = 'rings: joiner without room';
const REFUSED = /bytes are free, \d+ are needed/;

/** A cut in values is a cut in pages. */
const shapes: readonly CopyFaultShape[] = (['cut', 'flip'] as const).flatMap((how) =>
  copyFaultPlaces
    .filter((place) => how === 'flip' || place !== 'values')
    .map((place) => ({ how, place })),
);

const nameOf = ({ how, place }: CopyFaultShape): string => `rings: copy ${how} in its ${place}`;

export const plannedCopyTroubles: readonly string[] = [...shapes.map(nameOf), NO_ROOM];

/** Copies to the joiners of a ring go wrong, one after the other, until `over`. */
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

/** One copy to the joiner; what did not happen before `over` is not noted. */
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

/** The joiner refuses copies for a while. */
async function fillUp(joiner: Victim, over: AbortSignal): Promise<'spared' | void> {
  joiner.set({ diskFull: true });
  await lasts(NO_ROOM_MS, over);
  const hasRefused = await refusesForRoom(joiner);
  joiner.set({ diskFull: false });
  if (!hasRefused) return 'spared';
}

/** Its log says it once, and then counts. */
async function refusesForRoom({ server }: Victim): Promise<boolean> {
  const status = await server.status().catch(() => null);
  const loads = status?.rings.flatMap((ring) => ring.loads) ?? [];
  return loads.some(({ reason }) => REFUSED.test(reason));
}
