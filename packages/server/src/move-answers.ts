// This device's answers about moves that it joins by: what operators say of them, and receipts.
import { CodedError } from '@ringwright/base/coded-error';
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';
import type { moveControl, moveReceipts } from '@ringwright/wire/moves';
import type { MoveControls } from './move-controls.ts';
import type { Mover } from './mover.ts';
import type { Rings } from './rings.ts';

export interface MovePorts {
  readonly rings: Rings;
  readonly controls: MoveControls;
  readonly mover: Mover;
}

/** What was asked for holds, and survives a restart, when it is answered. */
export async function answerMoveControl(
  { rings, controls, mover }: MovePorts,
  { keyspace, action, assignments }: RequestOf<typeof moveControl>,
): Promise<AnswerOf<typeof moveControl>> {
  const { ring, self } = rings.get(keyspace);
  const joins = ring.moves.filter(({ to }) => to === self);
  const inFlight = new Set(joins.map(({ assignment }) => assignment));
  const named = [...new Set(assignments)].filter((assignment) => inFlight.has(assignment));
  await controls.change(keyspace, action, { assignments: named, inFlight });
  if (action === 'pause' || action === 'retry') {
    const reason = action === 'pause' ? 'paused by an operator' : 'begun anew by an operator';
    mover.stopLoads(keyspace, new Set(named), new CodedError('MOVE_STOPPED', reason));
  }
  mover.review(keyspace);
  return { known: named.length };
}

export function answerMoveReceipts(
  { mover }: MovePorts,
  { keyspace, assignments }: RequestOf<typeof moveReceipts>,
): AnswerOf<typeof moveReceipts> {
  const lines = assignments.flatMap((assignment) => mover.receipt(keyspace, assignment) ?? []);
  return { receipts: lines.map((line) => Buffer.from(line)) };
}
