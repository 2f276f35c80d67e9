// Whether one ring is a legal successor of another. Both must have passed auditRing. Pure.

import { canonicalJson } from '@ringwright/base/canonical-json';
import type { Finding } from '@ringwright/base/finding';
import { ancestorsAfter } from '../advance-ring.ts';
import { settingChanges } from '../diff-rings.ts';
import type { Move } from '../move.ts';
import { grownReplicas } from '../new-slots.ts';
import { asIntervals } from '../partitioner/as-intervals.ts';
import { isLive } from '../partitioner/live-ids.ts';
import { isIntervals } from '../partitioner/partitioner.ts';
import { samePartitioner } from '../partitioner/partitioner-settings.ts';
import { mayFollow, withListedIntervals } from '../partitioner/reshape.ts';
import { completesReshape, isRetired, isSameReshape, reshapeMappingOf } from '../reshape-ring.ts';
import { hasSameDevices, noDeviceIn, type Ring } from '../ring.ts';
import { type Broken, type Check, findingsOf } from './finding-list.ts';

/** Two versions of a ring, with the ring id of the older one. */
interface Transition {
  readonly previous: Ring;
  readonly previousId: string;
  readonly next: Ring;
}

const identityChecks: readonly Check<Transition>[] = [
  { code: 'NEXT_OF_ANOTHER_RING', broken: ofAnotherRing },
  { code: 'NEXT_VERSION_WRONG', broken: versionWrong },
  { code: 'NEXT_PARENT_WRONG', broken: parentWrong },
  { code: 'NEXT_ANCESTORS_WRONG', broken: ancestorsWrong },
];

const contentChecks: readonly Check<Transition>[] = [
  { code: 'NEXT_DEVICE_ID_REUSED', broken: deviceIdReused },
  { code: 'NEXT_RESHAPE_CHANGED', broken: reshapeChanged },
  { code: 'NEXT_PARTITION_REUSED', broken: partitionReused },
  { code: 'NEXT_ASSIGNMENT_REUSED', broken: assignmentReused },
  { code: 'NEXT_MOVE_CHANGED', broken: moveChanged },
  { code: 'NEXT_MOVE_SKIPPED_STATE', broken: moveSkippedState },
  { code: 'NEXT_SLOT_WITHOUT_MOVE', broken: slotWithoutMove },
  { code: 'NEXT_MIN_VERSION_WRONG', broken: minVersionWrong },
];

export const transitionCodes: readonly string[] = [...identityChecks, ...contentChecks].map(
  ({ code }) => code,
);

/** Returns why `next` is not a legal successor; empty if it is. O(slots). */
export function auditTransition(transition: Transition): Finding[] {
  const findings = findingsOf(identityChecks, transition);
  return findings.length > 0 ? findings : findingsOf(contentChecks, transition);
}

function* ofAnotherRing({ previous, next }: Transition): Generator<Broken> {
  for (const { name, before, after } of settingChanges(previous, next)) {
    if (name === 'replicas' && !isReplicasStep(previous, next)) {
      const [was, is] = [previous.replicas, next.replicas];
      yield `replicas change from ${was} to ${is} while moves are in flight`;
    }
    if (name === 'replicas') continue;
    if ((name === 'partitioner' || name === 'partitions') && isReshapeStep(previous, next))
      continue;
    const [was, wouldBe] = [canonicalJson(before), canonicalJson(after)];
    yield `${name} was ${was} and would become ${wouldBe}`;
  }
}

/**
 * Whether a split or merge begins, completes as it began, or is cancelled. A direct commit
 * completes it at once.
 */
function isReshapeStep(previous: Ring, next: Ring): boolean {
  const [was, is] = [asIntervals(previous.partitioner), next.partitioner];
  if (was === null || !isIntervals(is)) return false;
  if (previous.reshape?.kind === 'to') return completesReshape(previous, next);
  if (previous.moves.length > 0) return false;
  if (next.reshape?.kind === 'to')
    return samePartitioner(is, withListedIntervals(was, next.partitions));
  return next.moves.length === 0 && mayFollow(was, is);
}

/**
 * Whether the replica count may change. Rows may be cut or replaced only with no moves in flight.
 * They grow when the moves into new slots are finalized.
 */
function isReplicasStep(previous: Ring, next: Ring): boolean {
  if (previous.moves.length === 0)
    return next.moves.length === 0 || next.replicas < previous.replicas;
  const fresh = previous.moves.filter(({ from }) => from === null).length;
  const hasNewSlots = next.moves.some(({ from }) => from === null);
  return fresh > 0 && !hasNewSlots && next.replicas === grownReplicas(previous, fresh);
}

function* versionWrong({ previous, next }: Transition): Generator<Broken> {
  if (next.version === previous.version + 1) return;
  yield `version ${next.version} cannot follow version ${previous.version}`;
}

function* parentWrong({ previousId, next }: Transition): Generator<Broken> {
  if (next.parent === previousId) return;
  yield `version ${next.version} has parent ${next.parent}, expected ${previousId}`;
}

/** Programs that do not know ancestors leave them out. */
function* ancestorsWrong({ previous, next }: Transition): Generator<Broken> {
  if (next.ancestors === undefined) return;
  const [found, { ancestors: wanted = [] }] = [next.ancestors, ancestorsAfter(previous)];
  if (found.join() === wanted.join()) return;
  yield `the versions before its parent are [${found.join()}], expected [${wanted.join()}]`;
}

function* deviceIdReused({ previous, next }: Transition): Generator<Broken> {
  if (next.devices.length < previous.devices.length) {
    yield `${next.devices.length} device ids follow ${previous.devices.length}`;
  }
  for (const [id, device] of previous.devices.entries()) {
    if (device !== null || (next.devices[id] ?? null) === null) continue;
    yield `device id ${id} left the ring and is used again`;
  }
}

/** The intervals of children stay while they are filled, and former intervals are those before. */
function* reshapeChanged({ previous, next }: Transition): Generator<Broken> {
  const [was, is] = [previous.reshape, next.reshape];
  if (is === undefined || isSameReshape(was, is)) return;
  if (is.kind === 'to' && was?.kind === 'to') {
    yield 'the intervals of a split or merge change while their children are filled';
  }
  if (is.kind === 'from' && !completesReshape(previous, next)) {
    yield 'former intervals are listed, but no split or merge ends';
  }
}

/** A partition that takes keys, or is to take them, did so before, or its id is new. */
function* partitionReused({ previous, next }: Transition): Generator<Broken> {
  const isSame = samePartitioner(previous.partitioner, next.partitioner);
  if (isSame && next.reshape?.kind !== 'to') return;
  const [wasUsed, isUsed] = [usedIds(previous), usedIds(next)];
  for (let id = 0; id < previous.partitions; id += 1) {
    if (wasUsed(id) || !isUsed(id)) continue;
    yield `partition id ${id} was split, merged or cancelled before, and is used again`;
  }
}

/** Returns a test whether a partition takes keys, or is a child that is being filled. */
function usedIds({ partitioner, reshape }: Ring): (id: number) => boolean {
  const all = reshape?.kind === 'to' ? [partitioner, reshape.partitioner] : [partitioner];
  return (id) => all.some((one) => isLive(one, id));
}

function* assignmentReused({ previous, next }: Transition): Generator<Broken> {
  if (next.nextAssignment < previous.nextAssignment) {
    const [was, is] = [previous.nextAssignment, next.nextAssignment];
    yield `the next assignment id fell from ${was} to ${is}`;
  }
  const inFlight = byAssignment(previous);
  for (const { assignment } of next.moves) {
    if (assignment >= previous.nextAssignment || inFlight.has(assignment)) continue;
    yield `assignment ${assignment} was issued before and had ended`;
  }
}

function* moveChanged({ previous, next }: Transition): Generator<Broken> {
  const inFlight = byAssignment(previous);
  for (const move of next.moves) {
    const before = inFlight.get(move.assignment);
    if (before === undefined || sameRoute(before, move)) continue;
    yield `assignment ${move.assignment} was ${route(before)} and would be ${route(move)}`;
  }
}

function* moveSkippedState({ previous, next }: Transition): Generator<Broken> {
  const inFlight = byAssignment(previous);
  for (const { assignment, state } of next.moves) {
    const before = inFlight.get(assignment)?.state;
    if (before === undefined && state !== 'PROPOSED') {
      yield `assignment ${assignment} starts ${state}, not PROPOSED`;
    }
    if (before === 'INITIALIZING' && state === 'PROPOSED') {
      yield `assignment ${assignment} goes back from INITIALIZING to PROPOSED`;
    }
  }
  for (const { assignment, state, replica, partition, to } of previous.moves) {
    if (state !== 'PROPOSED' || next.table[replica]?.[partition] !== to) continue;
    yield `assignment ${assignment} is finalized while PROPOSED`;
  }
}

/** Without moves in flight before and after, any slot may change: that is a direct commit. */
function* slotWithoutMove({ previous, next }: Transition): Generator<Broken> {
  if (previous.moves.length === 0 && next.moves.length === 0) return;
  if (previous.moves.length === 0 && next.replicas < previous.replicas) {
    yield* cutElsewhere(previous, next);
    return;
  }
  const isGone = isRetired(next);
  const finalized = new Map(previous.moves.map((move) => [slotKey(move), move.to]));
  const stillInFlight = new Set(next.moves.map(slotKey));
  for (const [replica, row] of next.table.entries()) {
    const before = previous.table[replica];
    for (let partition = 0; partition < row.length; partition += 1) {
      if (row[partition] === before?.[partition]) continue;
      if (
        row[partition] === noDeviceIn(row) &&
        (partition >= previous.partitions || isGone(partition))
      ) {
        continue;
      }
      const key = slotKey({ partition, replica });
      if (finalized.get(key) === row[partition] && !stillInFlight.has(key)) continue;
      const change = `${before?.[partition]} to ${row[partition]}`;
      yield `slot (${partition}, ${replica}) changes from device ${change} without a move`;
    }
  }
}

/** A cut table may name only devices that held the partition. */
function* cutElsewhere(previous: Ring, next: Ring): Generator<Broken> {
  for (const [replica, row] of next.table.entries()) {
    for (let partition = 0; partition < row.length; partition += 1) {
      if (previous.table.some((before) => before[partition] === row[partition])) continue;
      yield `slot (${partition}, ${replica}) is cut to device ${row[partition]}, not a holder`;
    }
  }
}

function* minVersionWrong({ previous, next }: Transition): Generator<Broken> {
  const touched = touchedPartitions(previous, next);
  for (let partition = 0; partition < next.partitions; partition += 1) {
    const wanted = touched[partition] === 1 ? next.version : previous.minVersions[partition];
    const found = next.minVersions[partition];
    if (found === wanted) continue;
    const what = touched[partition] === 1 ? 'changed' : 'did not change';
    yield `partition ${partition} ${what}: minVersion ${found}, expected ${wanted}`;
  }
}

/** Returns 1 for each partition whose reads or writes go elsewhere in `next`. */
function touchedPartitions(previous: Ring, next: Ring): Uint8Array {
  const touched = new Uint8Array(next.partitions);
  for (let partition = 0; partition < next.partitions; partition += 1) {
    const isNew = partition >= previous.partitions;
    if (isNew || !hasSameDevices(previous.table, next.table, partition)) touched[partition] = 1;
  }
  // The parents count when a reshape begins, not only when it ends. So from its first version on, a
  // client with an older ring cannot write to the parents.
  const inReshape = [previous, next].filter(({ reshape }) => reshape?.kind === 'to');
  const [reshaped] = inReshape.length === 1 ? inReshape : [];
  for (const parent of reshaped ? reshapeMappingOf(reshaped).retired : []) touched[parent] = 1;
  const [before, after] = [byAssignment(previous), byAssignment(next)];
  for (const move of previous.moves) if (!after.has(move.assignment)) touched[move.partition] = 1;
  for (const move of next.moves) if (!before.has(move.assignment)) touched[move.partition] = 1;
  return touched;
}

function byAssignment({ moves }: Ring): Map<number, Move> {
  return new Map(moves.map((move) => [move.assignment, move]));
}

function slotKey({ partition, replica }: Pick<Move, 'partition' | 'replica'>): number {
  return partition * 64 + replica;
}

function sameRoute(a: Move, b: Move): boolean {
  return slotKey(a) === slotKey(b) && a.from === b.from && a.to === b.to;
}

function route({ partition, replica, from, to }: Move): string {
  return `(${partition}, ${replica}) ${from} → ${to}`;
}
