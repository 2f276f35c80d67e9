// SIGKILL and power cuts, of one server or of all, at any moment or at a failpoint.

import { pick, type Random } from '@ringwright/base/random';
import { waitFor } from '@ringwright/node/wait-for';
import type { ArmedFailpoint } from '../control.ts';
import { lasts, type Nemesis, until } from '../nemesis.ts';
import { failpointNames } from '../source-patches.ts';
import type { Stage } from '../stage.ts';
import type { Victim } from '../victim.ts';

const DOWN_MS_MAX = 2_000;
/** Time limit for reaching a failpoint. Some are reached rarely. */
const ARMED_MS = 4_000;
const LOOK_MS = 100;
/** Delay of syncs, so that a power cut meets many of them in progress. */
const SLOW_SYNC_MS_MAX = 120;
const SLOW_SYNCS_MS = 500;
const UP_MS_MAX = 180_000;
const PASSES_MAX = 10;
const WAL_SHARES = 1_000;

export const kill: Nemesis = {
  name: 'SIGKILL and power cuts',
  async strike(stage, random, signal) {
    const how = pick(random, ['kill', 'cut'] as const);
    const strike = pick(random, [endOne, endAll, endAtFailpoint, endAtFailpoint, endInStart]);
    await strike({ stage, random, signal, how });
  },
};

interface Strike {
  readonly stage: Stage;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly how: 'kill' | 'cut';
}

async function endOne({ stage, random, signal, how }: Strike): Promise<void> {
  const victim = pick(random, stage.victims);
  await stage.fault(`${how} of one`, [victim], async () => {
    if (how === 'cut') await slowSyncs([victim], random, signal);
    await victim.end(how);
    await lasts(random.below(DOWN_MS_MAX), signal);
    victim.set({ syncDelayMs: 0 });
    await victim.start();
  });
}

async function endAll({ stage, random, signal, how }: Strike): Promise<void> {
  const { victims } = stage;
  await stage.fault(`${how} of all`, victims, async () => {
    if (how === 'cut') await slowSyncs(victims, random, signal);
    await Promise.all(victims.map((victim) => victim.end(how)));
    for (const victim of victims) victim.set({ syncDelayMs: 0 });
    await Promise.all(victims.map((victim) => victim.start()));
  });
}

/** Slows syncs, so that the power cut meets unsynced writes. */
async function slowSyncs(victims: readonly Victim[], random: Random, signal: AbortSignal) {
  const syncDelayMs = random.below(SLOW_SYNC_MS_MAX);
  for (const victim of victims) victim.set({ syncDelayMs, walShare: anyShare(random) });
  await lasts(SLOW_SYNCS_MS, signal);
}

/** Returns the fraction of a WAL's unsynced end that survives a power cut. */
export function anyShare(random: Random): number {
  return random.below(WAL_SHARES) / WAL_SHARES;
}

async function endAtFailpoint({ stage, random, signal, how }: Strike): Promise<void> {
  const victim = pick(random, stage.victims);
  const name = pick(random, failpointNames());
  await stage.fault(`${how} at ${name}`, [victim], async () => {
    victim.set({ walShare: anyShare(random) });
    const over = AbortSignal.any([signal, AbortSignal.timeout(ARMED_MS)]);
    await dieAt(victim, { name, action: how, passes: random.below(PASSES_MAX) }, over);
  });
}

/** Arms the failpoint until the server died there, or until `over`; then waits until it is up. */
export async function dieAt(
  victim: Victim,
  failpoint: ArmedFailpoint,
  over: AbortSignal,
): Promise<void> {
  const before = victim.fired().length;
  victim.set({ failpoint });
  await until(over, () => victim.fired().length > before);
  victim.set({ failpoint: null });
  await isUp(victim);
}

/** Kills the server, and kills it again while it recovers. */
async function endInStart({ stage, random, signal, how }: Strike): Promise<void> {
  const victim = pick(random, stage.victims);
  const name = pick(random, failpointNames());
  await stage.fault(`${how} in its start at ${name}`, [victim], async () => {
    await victim.end(how);
    victim.set({ failpoint: { name, action: how, passes: random.below(2) } });
    await victim.start();
    await lasts(LOOK_MS, signal);
    victim.set({ failpoint: null });
    await isUp(victim);
  });
}

/** Waits until the server is up. It may still be restarting after the failpoint. */
export async function isUp({ name, server }: Victim): Promise<void> {
  await waitFor(`${name} to be up`, {
    ask: () => server.status(),
    until: () => true,
    deadlineMs: UP_MS_MAX,
  });
}
