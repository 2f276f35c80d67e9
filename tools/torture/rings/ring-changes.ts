// The changes that an operator makes to a tortured ring; each is possible only in some states.
import { pick, type Random } from '@ringwright/base/random';
import type { BuilderDevice } from '@ringwright/builder/state/builder-state';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { intervalsOf } from '@ringwright/ring/partitioner/intervals-of';
import { isIntervals } from '@ringwright/ring/partitioner/partitioner';
import type { Ring } from '@ringwright/ring/ring';
import { holdersOf } from '@ringwright/ring/slots-of';
import { keyspace, type Stage } from '../stage.ts';
import type { Victim } from '../victim.ts';
import { override, type } from './operator.ts';

/** One more than the replicas of a partition: a ring that cannot give anything up proves little. */
const DEVICES_MIN = 4;
const WEIGHTS = ['0.5', '1', '2'];
/** With more partitions, most are nearly empty, and each is a file on three servers. */
const PARTITIONS_MAX = 40;
const PARTS_MIN = 2;

/** The state of a ring: its devices, and the servers outside it. */
interface Standing {
  readonly devices: readonly BuilderDevice[];
  /** Number of devices with weight: the builder needs one for each replica. */
  readonly weighted: number;
  readonly spares: readonly Victim[];
  /** Partitions in the order of their intervals. */
  readonly partitions: readonly number[];
  /** Neighbors on the same devices. */
  readonly mergeable: readonly (readonly [one: number, other: number])[];
}

export interface RingChange {
  readonly name: string;
  readonly isPossible: (ringState: Standing) => boolean;
  /** Returns the words of the commands that are committed together. */
  readonly commands: (ringState: Standing, random: Random) => readonly (readonly string[])[];
}

export const ringChanges: readonly RingChange[] = [
  {
    name: 'add',
    isPossible: ({ spares }) => spares.length > 0,
    commands: ({ spares }, random) => [joins(spares, random)],
  },
  {
    name: 'remove',
    isPossible: ({ devices, weighted }) => devices.length > DEVICES_MIN && weighted >= DEVICES_MIN,
    commands: ({ devices }, random) => [leaves(devices, random)],
  },
  {
    name: 'replace',
    isPossible: ({ devices, spares }) => devices.length >= DEVICES_MIN && spares.length > 0,
    commands: ({ devices, spares }, random) => [leaves(devices, random), joins(spares, random)],
  },
  {
    name: 'set-weight',
    isPossible: ({ devices }) => devices.length >= DEVICES_MIN,
    commands: ({ devices }, random) => {
      const { id, weight } = pick(random, devices);
      const others = WEIGHTS.filter((one) => Number(one) !== weight);
      return [['set-weight', `d${id}`, pick(random, others)]];
    },
  },
  {
    name: 'split',
    isPossible: ({ partitions }) => partitions.length < PARTITIONS_MAX,
    commands: ({ partitions }, random) => {
      const parts = String(PARTS_MIN + random.below(2));
      return [['split', String(pick(random, partitions)), '--parts', parts]];
    },
  },
  {
    name: 'merge',
    isPossible: ({ mergeable }) => mergeable.length > 0,
    commands: ({ mergeable }, random) => [['merge', ...pick(random, mergeable).map(String)]],
  },
];

export function changeOf(name: string): RingChange {
  const found = ringChanges.find((change) => change.name === name);
  if (found === undefined) throw new Error(`no change is named ${name}`);
  return found;
}

function joins(spares: readonly Victim[], random: Random): readonly string[] {
  return ['add', pick(random, spares).text, '1'];
}

function leaves(devices: readonly BuilderDevice[], random: Random): readonly string[] {
  return ['remove', `d${pick(random, devices).id}`];
}

export async function standingOf(stage: Stage): Promise<Standing> {
  const { state, ring } = await readVersion(stage.rings, keyspace, 'head');
  const known = (state?.devices ?? []).filter((device) => device !== null);
  const ports = new Set(known.map(({ port }) => port));
  const devices = known.filter((device) => device.state === 'active');
  return {
    devices,
    weighted: devices.filter(({ weight }) => weight > 0).length,
    spares: stage.victims.filter(({ place }) => !ports.has(place.proxyPort)),
    ...shapeOf(ring),
  };
}

function shapeOf(ring: Ring): Pick<Standing, 'partitions' | 'mergeable'> {
  const { partitioner } = ring;
  const partitions = isIntervals(partitioner) ? intervalsOf(partitioner).map(({ id }) => id) : [];
  const placeOf = (partition: number): string =>
    holdersOf(ring, partition)
      .toSorted((a, b) => a - b)
      .join();
  const mergeable = partitions.flatMap((one, index): [number, number][] => {
    const other = partitions[index + 1];
    return other !== undefined && placeOf(one) === placeOf(other) ? [[one, other]] : [];
  });
  return { partitions, mergeable };
}

/** Stages the commands of a change and commits them. */
export async function commitChange(
  stage: Stage,
  change: Pick<RingChange, 'name'>,
  commands: readonly (readonly string[])[],
): Promise<void> {
  for (const [verb = '', ...args] of commands) await type(stage, verb, ...args);
  // Wrong clocks are among the faults: a new server with a wrong clock joins nevertheless.
  await type(stage, 'commit', '-m', change.name, '--yes', ...override);
}

/** Reverts the head's change, whether its moves are in flight or complete. */
export async function revertTo(stage: Stage, version: number): Promise<void> {
  await type(stage, 'revert', String(version), '-m', 'back again', ...override);
}
