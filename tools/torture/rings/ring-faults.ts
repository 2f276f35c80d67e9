// Interruptions of a ring change before its rollout ends: a cancel, revert, pause or second change.

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
  /** When it comes, as versions after the head before the change: minimum and maximum. */
  readonly after: readonly [number, number];
  readonly injectFault: (scenario: RingScenario, before: number) => Promise<void>;
}

/** One in this many changes goes through undisturbed. */
const PLAIN_EVERY = 2;
/** Exit code: refused by a safety rule. */
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
    injectFault: inject,
  } = leastOf(stage, ringFaults, { random, nameOf: (fault) => fault.name });
  const [least, most] = after;
  const version = before + least + random.below(most - least + 1);
  await rollOutUpTo(scenario, version);
  if (signal.aborted) return;
  const ring = await stage.head();
  // Nothing was to move, or the moves completed too soon.
  if (ring.moves.length === 0 && name !== 'rings: reverted') return;
  // A revert moves whole partitions, so it is impossible after a completed split or merge. A second
  // change is impossible during one.
  const isDone = ring.moves.length === 0 && (await isReshapedSince(stage, before));
  const isReshaped = ring.reshape?.kind === 'to';
  if (name === 'rings: reverted' ? isDone : name === SECOND && isReshaped) return;
  await stage.fault(name, [], () => inject(scenario, before));
}

async function isReshapedSince(stage: Stage, version: number): Promise<boolean> {
  const { ring } = await readVersion(stage.rings, keyspace, version);
  return ring.partitions !== (await stage.head()).partitions;
}

/** Runs the rollout until the head has this version, then kills it, unless it has ended before. */
async function rollOutUpTo({ stage, signal }: RingScenario, version: number): Promise<void> {
  if ((await stage.head()).version >= version) return;
  const rollout = startRollout(stage);
  const controller = new AbortController();
  const ended = rollout.ended.finally(() => controller.abort());
  const isThere = async (): Promise<boolean> => (await stage.head()).version >= version;
  await until(AbortSignal.any([controller.signal, signal]), isThere);
  rollout.kill();
  isRolledOut(await ended);
}

async function cancel({ stage, random }: RingScenario): Promise<void> {
  const { moves } = await stage.head();
  const one = String(pick(random, moves).partition);
  await type(stage, 'moves', 'cancel', random.below(2) === 0 ? 'all' : one);
}

/** Partitions with moves in flight must wait; others may move at once. */
async function commitSecond({ stage, random }: RingScenario): Promise<void> {
  const ringState = await standingOf(stage);
  const { moves } = await stage.head();
  const change = changeOf(ringState.spares.length > 0 ? 'add' : 'set-weight');
  await commitChange(stage, { name: 'second' }, change.commands(ringState, random));
  const ring = await stage.head();
  const assignmentsLeft = new Set(ring.moves.map(({ assignment }) => assignment));
  const lost = moves.filter(({ assignment }) => !assignmentsLeft.has(assignment));
  const moving = ring.moves.map(({ partition, replica }) => `${partition}/${replica}`);
  if (lost.length === 0 && new Set(moving).size === moving.length) return;
  throw new Broken(`second change: ${lost.length} moves are gone, or slots move twice`);
}

/** A device with moves on their way to it cannot be removed before they end. */
async function removeJoiner({ stage, random }: RingScenario): Promise<void> {
  const ring = await stage.head();
  const staying = new Set((await standingOf(stage)).devices.map(({ id }) => id));
  // A split or merge may fill children on a device that is removed but still has slots.
  const joiners = ring.moves.filter(({ to }) => staying.has(to));
  if (joiners.length === 0) return;
  await type(stage, 'remove', `d${pick(random, joiners).to}`);
  const args = ['commit', ring.keyspace, '-m', 'too soon', '--override', 'a try', '--json'];
  const { exit, stderr } = await stage.builder.run(args);
  await type(stage, 'unstage');
  if (exit === REFUSED_EXIT && stderr.includes('MOVES_IN_FLIGHT')) return;
  throw new Broken(`second change: not refused, but ended with ${exit}: ${stderr}`);
}

/** The rollout of paused moves ends; after resume, or retry, the moves continue. */
async function pauseAll({ stage, random, signal }: RingScenario): Promise<void> {
  const controlMoves = async (action: string): Promise<void> => {
    // Joiners that are down do not get the command: exit 4.
    await stage.builder.run(['moves', keyspace, action, 'all', '--json']);
  };
  await controlMoves('pause');
  isRolledOut(await endedWith(signal, startRollout(stage)));
  await controlMoves('resume');
  if (random.below(2) === 0) await controlMoves('retry');
}
