// What becomes of a ring change before its rollout ends: taken back, held up, or joined by another.

import { pick, type Random } from '@ringwright/base/random';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { Broken, until } from '../nemesis.ts';
import { keyspace, type Stage } from '../stage.ts';
import { leastOf } from './least-of.ts';
import { endedWith, isRolledOut, startRollout, type } from './operator.ts';
import { changeOf, commitChange, revertTo, standingOf } from './ring-changes.ts';

export interface RingScenario {
  readonly stage: Stage;
  readonly random: Random;
  readonly signal: AbortSignal;
}

interface RingFault {
  readonly name: string;
  /** How many versions after the one before the change it comes, at least and at most. */
  readonly after: readonly [number, number];
  readonly injectFault: (scenario: RingScenario, before: number) => Promise<void>;
}

/** One change in so many goes through as it was meant. */
const PLAIN_EVERY = 2;
/** Refused by a safety rule. */
const REFUSED_EXIT = 5;

const SECOND = 'rings: second change';

const ringFaults: readonly RingFault[] = [
  { name: 'rings: cancelled', after: [1, 2], injectFault: cancel },
  {
    name: 'rings: reverted',
    after: [1, 3],
    injectFault: ({ stage }, before) => revertTo(stage, before),
  },
  { name: SECOND, after: [1, 2], injectFault: commitSecond },
  { name: 'rings: second change refused', after: [1, 2], injectFault: removeJoiner },
  { name: 'rings: paused', after: [2, 2], injectFault: pauseAll },
];

export const plannedFaultNames: readonly string[] = ringFaults.map(({ name }) => name);

/** `before`: the version of the head before the change. */
export async function injectFault(scenario: RingScenario, before: number): Promise<void> {
  const { stage, random, signal } = scenario;
  if (random.below(PLAIN_EVERY) === 0 || signal.aborted) return;
  const {
    name,
    after,
    injectFault: happen,
  } = leastOf(stage, ringFaults, { random, nameOf: (fault) => fault.name });
  const [least, most] = after;
  const version = before + least + random.below(most - least + 1);
  await rollOutUpTo(scenario, version);
  if (signal.aborted) return;
  const ring = await stage.head();
  // Nothing was to move, or it was done too soon.
  if (ring.moves.length === 0 && name !== 'rings: reverted') return;
  // A revert moves whole partitions; beside a split or merge there is no second change.
  const isDone = ring.moves.length === 0 && (await isReshapedSince(stage, before));
  const isReshaped = ring.reshape?.kind === 'to';
  if (name === 'rings: reverted' ? isDone : name === SECOND && isReshaped) return;
  await stage.fault(name, [], () => happen(scenario, before));
}

async function isReshapedSince(stage: Stage, version: number): Promise<boolean> {
  const { ring } = await readVersion(stage.rings, keyspace, version);
  return ring.partitions !== (await stage.head()).partitions;
}

/** Until the head is this version: the rollout is killed then, or has ended before. */
async function rollOutUpTo({ stage, signal }: RingScenario, version: number): Promise<void> {
  if ((await stage.head()).version >= version) return;
  const rollout = startRollout(stage);
  const over = new AbortController();
  const ended = rollout.ended.finally(() => over.abort());
  const isThere = async (): Promise<boolean> => (await stage.head()).version >= version;
  await until(AbortSignal.any([over.signal, signal]), isThere);
  rollout.kill();
  isRolledOut(await ended);
}

async function cancel({ stage, random }: RingScenario): Promise<void> {
  const { moves } = await stage.head();
  const one = String(pick(random, moves).partition);
  await type(stage, 'moves', 'cancel', random.below(2) === 0 ? 'all' : one);
}

/** Partitions whose moves are in flight wait; the others may move at once. */
async function commitSecond({ stage, random }: RingScenario): Promise<void> {
  const standing = await standingOf(stage);
  const { moves } = await stage.head();
  const change = changeOf(standing.spares.length > 0 ? 'add' : 'set-weight');
  await commitChange(stage, { name: 'second' }, change.commands(standing, random));
  const ring = await stage.head();
  const kept = new Set(ring.moves.map(({ assignment }) => assignment));
  const lost = moves.filter(({ assignment }) => !kept.has(assignment));
  const moving = ring.moves.map(({ partition, replica }) => `${partition}/${replica}`);
  if (lost.length === 0 && new Set(moving).size === moving.length) return;
  throw new Broken(`second change: ${lost.length} moves are gone, or slots move twice`);
}

/** A device that moves are on their way to cannot be removed before they have ended. */
async function removeJoiner({ stage, random }: RingScenario): Promise<void> {
  const ring = await stage.head();
  const staying = new Set((await standingOf(stage)).devices.map(({ id }) => id));
  // A split or merge may fill children on a device that is removed, and has its slots yet.
  const joiners = ring.moves.filter(({ to }) => staying.has(to));
  if (joiners.length === 0) return;
  await type(stage, 'remove', `d${pick(random, joiners).to}`);
  const args = ['commit', ring.keyspace, '-m', 'too soon', '--override', 'a try', '--json'];
  const { exit, stderr } = await stage.builder.run(args);
  await type(stage, 'unstage');
  if (exit === REFUSED_EXIT && stderr.includes('MOVES_IN_FLIGHT')) return;
  throw new Broken(`second change: not refused, but ended with ${exit}: ${stderr}`);
}

/** A rollout of moves that are paused ends; resumed, and begun anew, they go on. */
async function pauseAll({ stage, random, signal }: RingScenario): Promise<void> {
  const tell = async (action: string): Promise<void> => {
    // Joiners that are down do not hear of it: exit 4.
    await stage.builder.run(['moves', keyspace, action, 'all', '--json']);
  };
  await tell('pause');
  isRolledOut(await endedWith(signal, startRollout(stage)));
  await tell('resume');
  if (random.below(2) === 0) await tell('retry');
}
