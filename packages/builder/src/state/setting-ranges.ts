// The ranges of a ring's settings. Each refusal states the value and its range. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import {
  minPartHoursMax,
  overloadMax,
  partitionCountMax,
  partitionPowerMax,
  replicaCountMax,
  ringFileBytesMax,
} from '@ringwright/base/limits';
import { intervalFaults } from '@ringwright/ring/partitioner/interval-faults';
import {
  type IntervalPartitioner,
  isIntervals,
  type Partitioner,
  saltBytesMax,
} from '@ringwright/ring/partitioner/partitioner';
import { slotCount } from '@ringwright/ring/ring';

/** A power of 0 would shift a 32-bit hash by 32 bits, which JavaScript does not do. */
const PARTITION_POWER_MIN = 1;
const SEED_MAX = 2 ** 32 - 1;
const HEX_CHARACTERS_MAX = 2 * saltBytesMax;

export function checkMinPartHours(value: number): void {
  requireWhole('min-part-hours', value, [0, minPartHoursMax]);
}

export function checkOverload(value: number): void {
  requireWithin('overload', value, [0, overloadMax]);
}

/** Checks a replica count, which may be fractional. The table must fit into a ring file. */
export function checkReplicas(replicas: number, partitions: number): void {
  requireWithin('replicas', replicas, [1, replicaCountMax]);
  const bytes = slotCount(partitions, replicas) * Uint16Array.BYTES_PER_ELEMENT;
  if (bytes <= ringFileBytesMax) return;
  throw new CodedError(
    'VALUE_OUT_OF_RANGE',
    `${partitions} partitions with ${replicas} replicas need ${bytes} bytes, at most ${ringFileBytesMax} are allowed`,
    { hint: 'use fewer partitions', details: { bytes, max: ringFileBytesMax } },
  );
}

/** Checks a partitioner's own settings and returns its number of partitions. */
export function checkPartitioner(partitioner: Partitioner): number {
  if (partitioner.kind === 'md5-shift') {
    requireWhole('partition power', partitioner.power, [PARTITION_POWER_MIN, partitionPowerMax]);
    requireHex('prefix', partitioner.prefix);
    requireHex('suffix', partitioner.suffix);
    return 2 ** partitioner.power;
  }
  requireWhole('partitions', partitioner.partitions, [1, partitionCountMax]);
  if (isIntervals(partitioner)) {
    requireIntervals(partitioner);
    return partitioner.partitions;
  }
  requireWhole('seed', partitioner.seed, [0, SEED_MAX]);
  return partitioner.partitions;
}

function requireIntervals(partitioner: IntervalPartitioner): void {
  const { value: fault } = intervalFaults(partitioner).next();
  if (fault === undefined) return;
  const { message, found, wanted } = fault;
  throw new CodedError('INTERVALS_INVALID', `${partitioner.kind}: ${message}`, {
    hint: 'boundaries must ascend, and every interval must have room for a key',
    details: { found, wanted },
  });
}

/** Checks the minimum of zones: at most the replicas of every partition. 0 removes the rule. */
export function checkZonesMin(zones: number, replicas: number): void {
  requireWhole('zones-min', zones, [0, Math.floor(replicas)]);
}

function requireWhole(name: string, value: number, range: readonly [number, number]): void {
  if (!Number.isInteger(value)) throw outOfRange(name, value, range);
  requireWithin(name, value, range);
}

function requireWithin(name: string, value: number, range: readonly [number, number]): void {
  if (!(value >= range[0] && value <= range[1])) throw outOfRange(name, value, range);
}

function requireHex(name: string, value: string): void {
  if (value.length <= HEX_CHARACTERS_MAX && /^([0-9a-f]{2})*$/.test(value)) return;
  throw new CodedError(
    'VALUE_OUT_OF_RANGE',
    `the hash ${name} ${JSON.stringify(value.slice(0, 32))} is not at most ${HEX_CHARACTERS_MAX} hex digits`,
  );
}

function outOfRange(
  name: string,
  value: number,
  [min, max]: readonly [number, number],
): CodedError {
  return new CodedError('VALUE_OUT_OF_RANGE', `${name} ${value} is not between ${min} and ${max}`, {
    details: { name, value: String(value), min, max },
  });
}
