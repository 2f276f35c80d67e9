// Ring changes all the time, by the real ring-builder: one after the other, with deaths of all who
// take part in them, the operator's too.
import type { Random } from '@ringwright/base/random';
import { Broken, lasts, type Nemesis, pick } from '../nemesis.ts';
import { headOf, isRolledOut, type Rollout, startRollout, type } from '../rings/operator.ts';
import { proveRings } from '../rings/prove-rings.ts';
import { readReceipts } from '../rings/read-receipts.ts';
import { receiptFaults } from '../rings/receipt-faults.ts';
import {
  commitChange,
  type RingChange,
  revertTo,
  ringChanges,
  standingOf,
} from '../rings/ring-changes.ts';
import { dieAt, nextDeath, plannedPlaces } from '../rings/ring-kills.ts';
import type { Stage } from '../stage.ts';

/** With the servers that a ring may do without: enough for every kind of change. */
const SERVERS_MIN = 5;
/** Of one change; then it goes on in peace, so that moves are finished all the time. */
const TROUBLES_MAX = 3;
const ROLLOUT_LIFE_MS_MAX = 6_000;
const LOOK_MS = 50;

/** What becomes of a change that was committed. */
const fates = ['goes through', 'goes through', 'goes through', 'cancelled', 'reverted'] as const;
/** What befalls a rollout. */
const troubles = ['death', 'death', 'death', 'killed', 'none'] as const;

export const rings: Nemesis = {
  letter: 'rings',
  name: 'ring changes',
  planned: [
    ...ringChanges.map(({ name }) => `rings: ${name}`),
    ...['rings: rollout killed', 'rings: cancelled', 'rings: reverted'],
    ...plannedPlaces,
  ],
  async strike(stage, random, signal) {
    while (stage.victims.length < SERVERS_MIN) await stage.addVictim();
    const standing = await standingOf(stage);
    const possible = ringChanges.filter(({ isPossible }) => isPossible(standing));
    // The kind that was made least: on a busy machine a run has few of them.
    const made = ({ name }: RingChange): number => countOf(stage, `rings: ${name}`);
    const fewest = Math.min(...possible.map(made));
    const change = pick(
      random,
      possible.filter((one) => made(one) === fewest),
    );
    const scene = { stage, random, signal };
    await stage.fault(`rings: ${change.name}`, [], async () => {
      const before = (await headOf(stage)).ring.version;
      await commitChange(stage, change, change.commands(standing, random));
      await befall(scene, before);
      await rollOutUnderFire(scene);
    });
    const faults = receiptFaults(readReceipts(stage));
    if (faults.length > 0) throw new Broken(faults.join('; '));
  },
  settle: proveRings,
};

interface Scene {
  readonly stage: Stage;
  readonly random: Random;
  readonly signal: AbortSignal;
}

function countOf({ faults }: Stage, wanted: string): number {
  return faults.filter(({ name }) => name === wanted).length;
}

/** Some changes are not to be: they end in the middle, or when they are done. */
async function befall(scene: Scene, before: number): Promise<void> {
  const { stage, random, signal } = scene;
  const fate = pick(random, fates);
  if (fate === 'goes through' || signal.aborted) return;
  await stage.fault(`rings: ${fate}`, [], async () => {
    await rollOutUpTo(scene, before + 1 + random.below(fate === 'reverted' ? 3 : 2));
    if (fate === 'reverted') return revertTo(stage, before);
    const { moves } = (await headOf(stage)).ring;
    if (moves.length === 0) return;
    const one = String(pick(random, moves).partition);
    await type(stage, 'moves', 'cancel', random.below(2) === 0 ? 'all' : one);
  });
}

/** Until the head is this version: the rollout is killed then, or has ended before. */
async function rollOutUpTo({ stage, signal }: Scene, version: number): Promise<void> {
  if ((await headOf(stage)).ring.version >= version) return;
  const rollout = startRollout(stage);
  const over = new AbortController();
  const ended = rollout.ended.finally(() => over.abort());
  const until = AbortSignal.any([over.signal, signal]);
  while (!until.aborted && (await headOf(stage)).ring.version < version) {
    await lasts(LOOK_MS, until);
  }
  rollout.kill();
  isRolledOut(await ended);
}

/** Types `rollout` until it is done; at first something happens to it each time. */
async function rollOutUnderFire(scene: Scene): Promise<void> {
  const { stage, random, signal } = scene;
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    const { ring } = await headOf(stage);
    const isQuiet = attempt >= TROUBLES_MAX || ring.moves.length === 0;
    const trouble = isQuiet ? 'none' : pick(random, troubles);
    const over = new AbortController();
    const until = AbortSignal.any([over.signal, signal]);
    const { promise: armed, resolve: onArmed } = Promise.withResolvers<void>();
    const around = { random, ring, over: until, onArmed };
    const death = trouble === 'death' ? dieAt(stage, nextDeath(stage, random), around) : onArmed();
    await Promise.race([armed, death]);
    const rollout = startRollout(stage);
    // With the end of the run it ends in any case.
    signal.addEventListener('abort', rollout.kill);
    const killed = trouble === 'killed' ? killInTime(scene, rollout, until) : null;
    const ended = await rollout.ended.finally(() => over.abort());
    signal.removeEventListener('abort', rollout.kill);
    await Promise.all([death, killed]);
    if (isRolledOut(ended)) return;
  }
}

async function killInTime({ stage, random }: Scene, rollout: Rollout, until: AbortSignal) {
  await lasts(random.below(ROLLOUT_LIFE_MS_MAX), until);
  if (until.aborted) return;
  await stage.fault('rings: rollout killed', [], async () => rollout.kill());
}
