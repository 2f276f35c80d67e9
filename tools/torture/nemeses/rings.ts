// Ring changes without pause, by the real ring-builder, one after the other. Every participant may
// die in them, also the operator.
import { Broken, lasts, type Nemesis } from '../nemesis.ts';
import { plannedCopyTroubles, troubleCopies } from '../rings/copy-troubles.ts';
import { buryOne, DEAD } from '../rings/dead-device.ts';
import { leastOf } from '../rings/least-of.ts';
import { type Command, endedWith, isRolledOut, startRollout } from '../rings/operator.ts';
import { proveRings } from '../rings/prove-rings.ts';
import { readReceipts, receiptFaults } from '../rings/receipts.ts';
import { commitChange, type RingChange, ringChanges, standingOf } from '../rings/ring-changes.ts';
import { injectFault, plannedFaultNames, type RingScenario } from '../rings/ring-faults.ts';
import { dieInMove, nextDeath, plannedPlaces } from '../rings/ring-kills.ts';

/** Includes the servers that a ring can do without: enough for every kind of change. */
const SERVERS_MIN = 5;
/** Faulty attempts per change. Then it proceeds undisturbed, so that moves keep completing. */
const TROUBLES_MAX = 3;
const ROLLOUT_LIFE_MS_MAX = 6_000;
/**
 * After this time the rollout begins even if the failpoint is not armed. A server that was wiped
 * before a ring named it is whole only when the rollout has pushed one, and until then no other
 * fault may hit it.
 */
const ARMED_MS_MAX = 10_000;
/** At least one in this many changes is followed by a device's death, if enough are left. */
const DEAD_EVERY = 5;
const DEVICES_LEFT_MIN = 3;

/** One in this many rollouts is killed; a server dies in each. */
const KILLED_EVERY = 4;

export const rings: Nemesis = {
  name: 'ring changes',
  planned: [
    ...ringChanges.map(({ name }) => `rings: ${name}`),
    ...['rings: rollout killed', DEAD, ...plannedFaultNames, ...plannedCopyTroubles],
    ...plannedPlaces,
  ],
  async strike(stage, random, signal) {
    while (stage.victims.length < SERVERS_MIN) await stage.addVictim();
    const scenario = { stage, random, signal };
    const ringState = await standingOf(stage);
    const possible = ringChanges.filter(({ isPossible }) => isPossible(ringState));
    // Prefers the least frequent kind: on a busy machine a run has few changes.
    const nameOf = ({ name }: RingChange): string => `rings: ${name}`;
    const change = leastOf(stage, possible, { nameOf, random });
    await stage.fault(nameOf(change), [], async () => {
      const before = (await stage.head()).version;
      await commitChange(stage, change, change.commands(ringState, random));
      await injectFault(scenario, before);
      await rollOutUnderFire(scenario);
    });
    const mayDie = (await standingOf(stage)).weighted > DEVICES_LEFT_MIN;
    if (mayDie && isDeathDue(stage) && !signal.aborted) await buryOne(scenario);
    const faults = receiptFaults(readReceipts(stage));
    if (faults.length > 0) throw new Broken(faults.join('; '));
  },
  prove: proveRings,
};

/** Counted, not drawn: one in twenty runs of twenty minutes had no death. */
function isDeathDue({ faults }: RingScenario['stage']): boolean {
  const countOf = (names: readonly string[]): number =>
    faults.filter(({ name }) => names.includes(name)).length;
  const changes = countOf(ringChanges.map(({ name }) => `rings: ${name}`));
  return changes >= DEAD_EVERY * (countOf([DEAD]) + 1);
}

/** Runs `rollout` until it is complete. The first attempts each meet a fault. */
async function rollOutUnderFire(scenario: RingScenario): Promise<void> {
  const { stage, random, signal } = scenario;
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    const ring = await stage.head();
    const isQuiet = attempt >= TROUBLES_MAX || ring.moves.length === 0;
    const controller = new AbortController();
    const until = AbortSignal.any([controller.signal, signal]);
    const { promise: armed, resolve: onArmed } = Promise.withResolvers<void>();
    const kill = { random, ring, over: until, onArmed };
    const death = isQuiet ? onArmed() : dieInMove(stage, nextDeath(stage, ring, random), kill);
    await Promise.race([armed, death, lasts(ARMED_MS_MAX, until)]);
    // A second death may hit the same server: then it comes after the first.
    const secondDeath = isQuiet ? null : dieInMove(stage, nextDeath(stage, ring, random), kill);
    const rollout = startRollout(stage);
    const isKilled = !isQuiet && random.below(KILLED_EVERY) === 0;
    const killed = isKilled ? killInTime(scenario, rollout, until) : null;
    const copies = isQuiet ? null : troubleCopies(stage, { random, ring, over: until });
    const ended = await endedWith(signal, rollout).finally(() => controller.abort());
    await Promise.all([death, secondDeath, killed, copies]);
    if (isRolledOut(ended)) return;
  }
}

async function killInTime({ stage, random }: RingScenario, rollout: Command, until: AbortSignal) {
  await lasts(random.below(ROLLOUT_LIFE_MS_MAX), until);
  if (until.aborted) return;
  await stage.fault('rings: rollout killed', [], async () => rollout.kill());
}
