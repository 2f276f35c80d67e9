// Audit of a ring's moves in flight, linear in their number. Pure.
import { movesInFlightMax } from '@ringwright/base/limits';
import type { Move } from '../move.ts';
import { grownReplicas } from '../new-slots.ts';
import { liveCountOf } from '../partitioner/partitioner.ts';
import { isRetired, partedParents, reshapeMappingOf } from '../reshape-ring.ts';
import { deviceIn, type Ring, slotCount } from '../ring.ts';
import type { Broken, Check } from './finding-list.ts';

export const moveChecks: readonly Check<Ring>[] = [
  { code: 'MOVES_TOO_MANY', broken: tooMany },
  { code: 'MOVES_NOT_SORTED', broken: notSorted },
  { code: 'MOVE_SLOT_TWICE', broken: slotTwice },
  { code: 'MOVE_SLOT_UNKNOWN', broken: slotUnknown },
  { code: 'MOVE_SLOT_NOT_NEXT', broken: slotNotNext },
  { code: 'MOVE_CHILD_WRONG', broken: childWrong },
  { code: 'MOVE_FROM_WRONG', broken: fromWrong },
  { code: 'MOVE_TO_UNKNOWN', broken: toUnknown },
  { code: 'MOVE_TO_HOLDS_PARTITION', broken: toHoldsPartition },
  { code: 'MOVE_STATE_INVALID', broken: stateInvalid },
  { code: 'MOVE_ASSIGNMENT_TWICE', broken: assignmentTwice },
  { code: 'MOVE_ASSIGNMENT_NOT_ISSUED', broken: assignmentNotIssued },
];

function* tooMany({ moves }: Ring): Generator<Broken> {
  if (moves.length <= movesInFlightMax) return;
  yield `${moves.length} moves in flight, at most ${movesInFlightMax}`;
}

function* notSorted({ moves }: Ring): Generator<Broken> {
  let previous: Move | null = null;
  for (const move of moves) {
    const order =
      previous === null
        ? 1
        : move.partition - previous.partition || move.replica - previous.replica;
    if (previous !== null && order < 0) yield `${named(move)} comes after ${named(previous)}`;
    previous = move;
  }
}

function* slotTwice({ moves }: Ring): Generator<Broken> {
  yield* twice(moves, slotOf, (move, first) => `${named(first)} and ${named(move)} share a slot`);
}

function* slotUnknown({ moves, table }: Ring): Generator<Broken> {
  for (const move of moves) {
    if (move.from === null || table[move.replica]?.[move.partition] !== undefined) continue;
    yield `${named(move)} is for slot ${slotOf(move)}, which is not in the table`;
  }
}

/** New slots must follow the last slot of the table without a gap, so that rows fill in order. */
function* slotNotNext(ring: Ring): Generator<Broken> {
  const { moves, table, partitions, reshape } = ring;
  if (reshape?.kind === 'to') return;
  const slots = table.reduce((sum, row) => sum + row.length, 0);
  const fresh = moves.filter(({ from }) => from === null);
  const replicas = grownReplicas(ring, fresh.length);
  if (liveCountOf(ring.partitioner) !== partitions && !Number.isInteger(replicas)) {
    const message = `${fresh.length} new slots make ${replicas} replicas, expected a whole number`;
    yield `${message}: partitions were split or merged`;
  }
  const after = slotCount(partitions, replicas);
  const isGone = isRetired(ring);
  for (const move of fresh) {
    const slotIndex = move.replica * partitions + move.partition;
    if (slotIndex >= slots && slotIndex < after && !isGone(move.partition)) continue;
    yield `${named(move)} is for the new slot ${slotOf(move)}, ` +
      `which is not one of the ${fresh.length} after the last slot of the table`;
  }
}

/** Every slot of a child must join the device of its first parent's slot; no others may move. */
function* childWrong(ring: Ring): Generator<Broken> {
  if (ring.reshape?.kind !== 'to') return;
  const { moves, table } = ring;
  const reshaping = reshapeMappingOf(ring);
  for (const ids of partedParents(ring, reshaping)) {
    yield `partitions ${ids.join(' and ')} are merged but are on different devices`;
  }
  const expected = new Map<string, number | undefined>();
  for (const [child, [parent = -1]] of reshaping.parents) {
    for (const [replica, row] of table.entries()) {
      expected.set(slotOf({ partition: child, replica }), deviceIn(row, parent));
    }
  }
  for (const move of moves) {
    const to = expected.get(slotOf(move));
    expected.delete(slotOf(move));
    if (move.from === null && to === move.to) continue;
    const problem =
      to === undefined ? 'belongs to no child' : `joins ${move.to}, but its parent is on ${to}`;
    yield `${named(move)} of slot ${slotOf(move)} ${problem}`;
  }
  for (const [slot, to] of expected) yield `no move brings slot ${slot} to device ${to}`;
}

function* fromWrong({ moves, table }: Ring): Generator<Broken> {
  for (const move of moves) {
    const device = table[move.replica]?.[move.partition];
    if (move.from === null || device === undefined || device === move.from) continue;
    yield `${named(move)} leaves ${move.from}, but slot ${slotOf(move)} is on device ${device}`;
  }
}

function* toUnknown({ moves, devices }: Ring): Generator<Broken> {
  for (const move of moves) {
    if ((devices[move.to] ?? null) !== null) continue;
    yield `${named(move)} joins device ${move.to}, which is not in the ring`;
  }
}

function* toHoldsPartition({ moves, table }: Ring): Generator<Broken> {
  for (const move of moves) {
    if (!table.some((row) => row[move.partition] === move.to)) continue;
    yield `${named(move)} joins device ${move.to}, which already holds partition ${move.partition}`;
  }
  yield* twice(
    moves,
    ({ partition, to }) => `${partition} ${to}`,
    (move, first) => `${named(first)} and ${named(move)} join device ${move.to} to one partition`,
  );
}

function* stateInvalid({ moves }: Ring): Generator<Broken> {
  for (const move of moves) {
    if (move.state === 'PROPOSED' || move.state === 'INITIALIZING') continue;
    yield `${named(move)} is ${String(move.state)}, not PROPOSED or INITIALIZING`;
  }
}

function* assignmentTwice({ moves }: Ring): Generator<Broken> {
  yield* twice(
    moves,
    ({ assignment }) => assignment,
    (move, first) => `slots ${slotOf(first)} and ${slotOf(move)} share ${named(move)}`,
  );
}

function* assignmentNotIssued({ moves, nextAssignment }: Ring): Generator<Broken> {
  for (const move of moves) {
    if (move.assignment >= 1 && move.assignment < nextAssignment) continue;
    yield `${named(move)} is in use, but the next to be issued is ${nextAssignment}`;
  }
}

function* twice(
  moves: readonly Move[],
  keyOf: (move: Move) => string | number,
  message: (move: Move, first: Move) => string,
): Generator<Broken> {
  const seen = new Map<string | number, Move>();
  for (const move of moves) {
    const key = keyOf(move);
    const first = seen.get(key);
    if (first === undefined) seen.set(key, move);
    else yield message(move, first);
  }
}

function named({ assignment }: Move): string {
  return `assignment ${assignment}`;
}

function slotOf({ partition, replica }: Pick<Move, 'partition' | 'replica'>): string {
  return `(${partition}, ${replica})`;
}
