// Deaths in a ring change: which participant dies at which failpoint.
import { pick, type Random } from '@ringwright/base/random';
import type { Move } from '@ringwright/ring/move';
import type { Ring } from '@ringwright/ring/ring';
import { holdersOf } from '@ringwright/ring/slots-of';
import { anyShare, dieAt } from '../nemeses/kill.ts';
import type { Stage } from '../stage.ts';
import type { Victim } from '../victim.ts';

type Role = 'giver' | 'source' | 'joiner' | 'coordinator';

/** Not every rollout passes every failpoint, so this many tries count as one death. */
const TRIES = 4;
/** For a failpoint without a death so far: only the first push of a change passes some of them. */
const FIRST_TRIES = 16;
/**
 * A failpoint is passed once per moving partition, and most changes move few partitions. So the
 * first death at a failpoint comes with its first pass.
 */
const PASSES_MAX = 2;
/** One in this many deaths is a power cut. */
const CUT_EVERY = 4;

/** Failpoints that every change passes. */
const placesOf: Readonly<Record<Role, readonly string[]>> = {
  giver: ['copy-out.before-snapshot', 'copy-out.opened', 'copy-out.read'],
  source: [
    'ring.file-written',
    'ring.activated',
    'drain.fenced',
    'drain.before-drop',
    'drop.before-trash',
    'drop.in-trash',
  ],
  joiner: [
    'create.before',
    'create.made',
    'copy-in.before-verify',
    'copy-in.before-place',
    'copy-in.placed',
    'copy-in.taken-over',
    'copy-in.before-switch',
    'copy-in.switched',
    'copy-in.before-removal',
    'load.copied',
    'load.rows',
    'load.before-ready',
    'takeover.confirmed',
    'ring.activated',
  ],
  coordinator: ['write.stored', 'coordinate.level-reached', 'ring.file-written', 'ring.activated'],
};

const roles = Object.keys(placesOf) as Role[];

/** Failpoints that only splits and merges pass, on the servers that have the partitions. */
const fillPlaces: readonly string[] = ['fill.copied-round', 'fill.built', 'fill.filled'];

/** Names of the faults that a long run must have: every failpoint, in one role or another. */
export const plannedPlaces: readonly string[] = [
  ...new Set([...Object.values(placesOf).flat(), ...fillPlaces]),
];

interface Death {
  readonly role: Role;
  readonly failpoint: string;
}

/** Returns a death possible in this ring's moves: one that happened least, then was tried least. */
export function nextDeath(stage: Stage, ring: Ring, random: Random): Death {
  const { faults } = stage;
  const fired = firedOf(stage);
  // Few changes split or merge, so failpoints that only these pass come first.
  const fills = ring.reshape?.kind === 'to' ? fillPlaces : [];
  const rare = fills.filter((failpoint) => !fired.includes(failpoint));
  if (rare.length > 0) return { role: 'joiner', failpoint: pick(random, rare) };
  const all = roles.flatMap((role) =>
    [...placesOf[role], ...(role === 'joiner' ? fills : [])].map((failpoint) => ({
      role,
      failpoint,
    })),
  );
  const score = (death: Death): number => {
    const firedCount = fired.filter((failpoint) => failpoint === death.failpoint).length;
    const tried = faults.filter(({ name }) => name === nameOf(death)).length;
    return firedCount === 0 ? tried / FIRST_TRIES : firedCount + tried / TRIES;
  };
  const lowest = Math.min(...all.map(score));
  return pick(
    random,
    all.filter((death) => score(death) === lowest),
  );
}

function firedOf({ victims }: Stage): string[] {
  return victims.flatMap((victim) => victim.fired());
}

function nameOf({ role, failpoint }: Death): string {
  return `rings: ${role} dies at ${failpoint}`;
}

/** Arms the failpoint until the death has happened, or until `over`. */
export async function dieInMove(
  stage: Stage,
  death: Death,
  kill: {
    readonly random: Random;
    readonly ring: Ring;
    readonly over: AbortSignal;
    /** Called when the failpoint is armed: the work that leads to it may begin. */
    readonly onArmed: () => void;
  },
): Promise<void> {
  const { random, ring, over, onArmed } = kill;
  const { role, failpoint } = death;
  const victims = victimsOf(stage, ring, role);
  // A failpoint is passed early in a rollout, so a server busy with another fault would be too
  // late.
  const free = victims.filter((one) => stage.turns.isFree(one.name));
  const victim = pick(random, free.length > 0 ? free : victims);
  const action = random.below(CUT_EVERY) === 0 ? 'cut' : 'kill';
  await stage.fault(nameOf(death), [victim], async () => {
    if (over.aborted) return 'spared';
    const isFirst = !firedOf(stage).includes(failpoint);
    const passes = isFirst ? 0 : random.below(PASSES_MAX);
    victim.set({ walShare: anyShare(random) });
    const died = dieAt(victim, { name: failpoint, action, passes }, over);
    onArmed();
    await died;
    return undefined;
  });
}

/** Returns the servers with the role in a move. Any server can be the coordinator. */
function victimsOf(stage: Stage, ring: Ring, role: Role): readonly Victim[] {
  if (role === 'coordinator') return stage.victims;
  const idsOf = ({ partition, from, to }: Move): readonly number[] => {
    if (role === 'joiner') return [to];
    // Any holder may give the copy.
    if (role === 'giver') return holdersOf(ring, partition);
    return from === null ? [] : [from];
  };
  const ids = new Set(ring.moves.flatMap(idsOf));
  const found = stage.victims.filter((victim) => ids.has(victim.idIn(ring)));
  return found.length > 0 ? found : stage.victims;
}
