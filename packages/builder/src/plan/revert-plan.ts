// Plans the way from the present placement back to an old one, as a plan like any other. Pure.
import { assert } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import type { Finding } from '@ringwright/base/finding';
import { quoteOption } from '@ringwright/base/quote-command';
import { asIntervals } from '@ringwright/ring/partitioner/as-intervals';
import { positionText } from '@ringwright/ring/partitioner/hash-ends';
import type { IntervalPartitioner } from '@ringwright/ring/partitioner/partitioner';
import { samePartitioner } from '@ringwright/ring/partitioner/partitioner-settings';
import { entriesOf, partitionAt, withListedIntervals } from '@ringwright/ring/partitioner/reshape';
import { deviceIdsAt } from '@ringwright/ring/quorum';
import type { Ring } from '@ringwright/ring/ring';
import { copyTable } from '@ringwright/ring/slot-rows';
import { placementProblem } from '../placement/placement-problem.ts';
import type { BuilderState } from '../state/builder-state.ts';
import { denseHead } from './dense-head.ts';
import { filledPlan } from './filled-plan.ts';
import { moveCount, rememberedWaves, takeWave } from './later-waves.ts';
import { liftFindings } from './lift-findings.ts';
import type { Plan, PlanBasis, PlannedMove } from './plan.ts';
import { devicePlans, slotsPerDevice } from './plan-devices.ts';
import { leftForLater } from './plan-warnings.ts';
import { steadyWaves } from './steady-moves.ts';

interface RevertInput extends PlanBasis {
  /** Has no moves in flight: they are cancelled first. */
  readonly head: Ring;
  readonly headId: string;
  /** The version to return to. */
  readonly old: Ring;
}

/**
 * Plans moves from the head's table toward the old one, at most one slot of a partition per wave.
 * Replicas that only changed rows within a partition stay: their data is in the right place. Slots
 * of devices that are gone stay where they are now.
 */
export function revertPlan(input: RevertInput): Plan {
  const { head, state, old } = input;
  assert(head.moves.length === 0, 'moves in flight are cancelled before a revert');
  requireSameIntervals(head, old, state);
  const { waves: returns, lost } = revertMoves(input);
  const waves = steadyWaves(returns);
  const total = moveCount(waves);
  const { moves, later: remaining } = takeWave(waves, {
    isReady: () => true,
    isUrgent: () => false,
    ...(input.direct === true && { most: Infinity }),
  });
  const target = copyTable(head.table, state.devices.length);
  for (const { partition, replica, to } of moves) target[replica]![partition] = to;
  const movesLeft = moveCount(remaining);
  const later = rememberedWaves(remaining);
  const held = slotsPerDevice(head.table, state.devices.length);
  const lifts = liftFindings(held, waves);
  const shares = denseHead(head, state)?.state ?? state;
  return filledPlan(input, {
    target,
    moves,
    moveLowerBound: total,
    later,
    movesLeft,
    devices: devicePlans(state, placementProblem(shares), { head, target, moves }),
    warnings: [...revertWarnings(input, lost), ...leftForLater({ moves, movesLeft }), ...lifts],
  });
}

/** Throws RESHAPE_UNFIT: ids of partitions that were split or merged since then never come back. */
function requireSameIntervals(head: Ring, old: Ring, state: BuilderState): void {
  if (samePartitioner(head.partitioner, old.partitioner)) return;
  const [is, was] = [asIntervals(head.partitioner), asIntervals(old.partitioner)];
  if (is === null || was === null) return;
  if (samePartitioner(withListedIntervals(is), withListedIntervals(was, is.partitions))) return;
  const message = `version ${old.version} has other intervals than version ${head.version}`;
  const changes = intervalChanges(state.ring, { is, wanted: was });
  const [first, ...others] = changes;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  throw new CodedError('RESHAPE_UNFIT', `${message}, but a revert moves whole partitions`, {
    hint:
      first === undefined
        ? 'the same intervals exist under other ids: use set-weight and pin to say which devices hold them'
        : `stage the commands that lead to those intervals: ${first}${more}`,
    details: { head: head.version, old: old.version, changes },
  });
}

interface Return {
  /** Each has at most one slot of a partition. */
  readonly waves: PlannedMove[][];
  /** Slots whose old device is gone. */
  readonly lost: number;
}

function revertMoves({ head, state, old }: RevertInput): Return {
  const found: Return & { lost: number } = { waves: [], lost: 0 };
  const mayHold = (id: number): boolean => state.devices[id]?.state === 'active';
  const partitions = Math.min(head.partitions, old.partitions);
  for (let partition = 0; partition < partitions; partition += 1) {
    const devicesNow = deviceIdsAt(head.table, partition);
    const devicesThen = deviceIdsAt(old.table, partition);
    const missing = devicesThen.filter((id) => !devicesNow.includes(id));
    if (missing.length === 0) continue;
    const returning = missing.filter(mayHold);
    found.lost += missing.length - returning.length;
    for (const [index, [replica, to]] of pairUp({
      now: devicesNow,
      then: devicesThen,
      back: returning,
    }).entries()) {
      found.waves[index] ??= [];
      found.waves[index].push({ partition, replica, from: devicesNow[replica]!, to });
    }
  }
  return found;
}

/** Pairs each device to bring back with a row: its own if it is free, else the next free one. */
function pairUp({
  now,
  then,
  back,
}: {
  readonly now: readonly number[];
  readonly then: readonly number[];
  readonly back: readonly number[];
}): [replica: number, to: number][] {
  const free = new Set([...now.keys()].filter((replica) => !then.includes(now[replica]!)));
  const sameRow = back.filter((id) => free.has(then.indexOf(id)));
  for (const id of sameRow) free.delete(then.indexOf(id));
  const rows = [...free];
  return back.flatMap((id): [number, number][] => {
    const replica = sameRow.includes(id) ? then.indexOf(id) : rows.shift();
    return replica === undefined ? [] : [[replica, id]];
  });
}

function revertWarnings({ head: { replicas }, old }: RevertInput, lost: number): Finding[] {
  const findings: Finding[] = [];
  if (lost > 0) {
    findings.push({
      code: 'DEVICES_GONE',
      message:
        `devices that left the ring had ${counted(lost, 'slot')} of version ${old.version}, ` +
        'which cannot be moved back',
      details: { slots: lost, version: old.version },
    });
  }
  if (old.replicas !== replicas) {
    findings.push({
      code: 'REPLICAS_STAY',
      message:
        `version ${old.version} had ${counted(old.replicas, 'replica')}; ` +
        `the present number, ${replicas}, stays`,
      details: { then: old.replicas, now: replicas },
    });
  }
  return findings;
}

/**
 * Returns the builder state of a revert: settings and weights of the old version for the devices
 * that exist. Devices added since are drained. If some of the old devices are gone, the new ones
 * are needed and keep their weight. The number of replicas stays, so pins and zones for more than
 * that are left out.
 */
export function revertState(state: BuilderState, old: BuilderState): BuilderState {
  const { minPartHours, overload } = old;
  const isActive = (id: number): boolean => state.devices[id]?.state === 'active';
  const oldActive = old.devices.filter((device) => device?.state === 'active');
  const allActive = oldActive.every((device) => device !== null && isActive(device.id));
  const devices = state.devices.map((device) => {
    if (device === null || device.state === 'removed') return device;
    const oldDevice = old.devices[device.id] ?? null;
    const { ramp: _ramp, ...plain } = device;
    if (oldDevice?.state === 'active') return { ...plain, weight: oldDevice.weight };
    return allActive ? { ...plain, weight: 0 } : device;
  });
  const { pins: _pins, zonesMin: _zones, sizes: _sizes, ...otherFields } = state;
  const most = Math.floor(state.replicas);
  const pins = (old.pins ?? []).filter(
    ({ on, off }) => on.length <= most && [...on, ...off].every(isActive),
  );
  return {
    ...otherFields,
    ...(pins.length > 0 && { pins }),
    ...(old.zonesMin !== undefined && { zonesMin: Math.min(old.zonesMin, most) }),
    ...(old.sizes !== undefined && { sizes: old.sizes }),
    minPartHours,
    overload,
    devices,
  };
}

/**
 * Returns the split and merge commands that lead to the wanted intervals. Each command is correct
 * for the present intervals only, because its ids change when another one is applied. The borders
 * come back this way; the ids never do.
 */
function intervalChanges(
  ring: string,
  { is, wanted }: { readonly is: IntervalPartitioner; readonly wanted: IntervalPartitioner },
): string[] {
  const [entriesNow, entriesThen] = [entriesOf(is), entriesOf(wanted)];
  // A single interval has all keys, whatever its border, and no neighbor to merge it with.
  if (entriesNow.length === 1 && entriesThen.length === 1) return [];
  const bordersNow = new Set(entriesNow.map(({ border }) => border));
  const bordersThen = new Set(entriesThen.map(({ border }) => border));
  const isRange = is.kind === 'ranges';
  const merges = entriesNow.flatMap(({ id, border }, index) => {
    const adjacent = isRange ? entriesNow[index - 1] : entriesNow[(index + 1) % entriesNow.length];
    if (bordersThen.has(border) || adjacent === undefined || adjacent.id === id) return [];
    const pair = isRange ? [adjacent.id, id] : [id, adjacent.id];
    return [`ring-builder merge ${ring} ${pair.join(' ')}`];
  });
  const splits = entriesThen.flatMap(({ border }) => {
    if (bordersNow.has(border)) return [];
    const position = typeof border === 'number' ? positionText(border) : border;
    const cut = quoteOption('at', position);
    return [`ring-builder split ${ring} ${partitionAt(is, border)} ${cut}`];
  });
  return [...merges, ...splits];
}
