// The range of every number that can be typed, by the name of its option or argument. No number is
// read without its range. If a ring permits less, the builder reports that.
import {
  beaconLifeMsMax,
  deviceCountMax,
  deviceWeightMax,
  minPartHoursMax,
  movesInFlightMax,
  overloadMax,
  partitionCountMax,
  partitionPowerMax,
  replicaCountMax,
  splitPartsMax,
  tierNumberMax,
  trustKeysMax,
  trustLifeDaysMax,
} from '@ringwright/base/limits';
import {
  beaconMinutesMin,
  rampHoursMax,
  rampPercentMin,
  stallSecondsMax,
  stallSecondsMin,
  trustLifeDaysMin,
} from '@ringwright/base/limits-commands';
import { laterMovesMax, swapBudgetMax } from '@ringwright/base/limits-rings';
import { portMax } from '@ringwright/base/server-address';

export interface NumberRange {
  readonly least: number;
  readonly most: number;
  readonly isWhole: boolean;
  readonly unit?: string;
}

function whole(least: number, most: number = Number.MAX_SAFE_INTEGER, unit?: string): NumberRange {
  return { least, most, isWhole: true, ...(unit !== undefined && { unit }) };
}

function any(least: number, most: number, unit?: string): NumberRange {
  return { least, most, isWhole: false, ...(unit !== undefined && { unit }) };
}

export const numberRanges = {
  // devices
  region: whole(0, tierNumberMax),
  zone: whole(0, tierNumberMax),
  port: whole(1, portMax),
  weight: any(0, deviceWeightMax),
  percent: any(rampPercentMin, 100),
  'in-hours': whole(0, rampHoursMax, 'hours'),
  hours: whole(1, rampHoursMax, 'hours'),
  // rings
  'swap-budget': whole(0, swapBudgetMax),
  'partition-power': whole(1, partitionPowerMax),
  partitions: whole(1, partitionCountMax),
  partition: whole(0, partitionCountMax - 1),
  other: whole(0, partitionCountMax - 1),
  parts: whole(2, splitPartsMax),
  most: whole(1, splitPartsMax),
  replicas: any(1, replicaCountMax),
  'min-part-hours': whole(0, minPartHoursMax, 'hours'),
  overload: any(0, overloadMax),
  'zones-min': whole(0, replicaCountMax),
  // changes
  'max-replicas-at-once': whole(1, replicaCountMax),
  canary: whole(0, deviceCountMax),
  'max-moves': whole(1, movesInFlightMax),
  waves: whole(1, laterMovesMax),
  'stall-timeout': any(stallSecondsMin, stallSecondsMax, 'seconds'),
  // history
  limit: whole(0),
  keep: whole(1),
  number: whole(1),
  handoffs: whole(0, deviceCountMax),
  // trust
  days: any(trustLifeDaysMin, trustLifeDaysMax, 'days'),
  minutes: any(beaconMinutesMin, beaconLifeMsMax / 60_000, 'minutes'),
  large: whole(1, trustKeysMax),
  'moved-share': any(0, 1),
} as const satisfies Readonly<Record<string, NumberRange>>;

export type NumberName = keyof typeof numberRanges;

export function isNumberName(name: string): name is NumberName {
  return Object.hasOwn(numberRanges, name);
}

/** Returns `a whole number from 1 to 32` or `a number from 1 to 604800 (seconds)`. */
export function describeRange({ least, most, isWhole, unit }: NumberRange): string {
  const kind = isWhole ? 'a whole number' : 'a number';
  const bounds =
    most === Number.MAX_SAFE_INTEGER ? `, ${least} or more` : ` from ${least} to ${most}`;
  return `${kind}${bounds}${unit === undefined ? '' : ` (${unit})`}`;
}
