// This device's answers about the moves it joins by: operators' controls, and receipts.
import { CodedError } from '@ringwright/base/coded-error';
import type { PartitionInfo } from '@ringwright/partition/file/partition-info';
import type { Store } from '@ringwright/partition/store';
import { dutyKindOf } from '@ringwright/ring/duty-of';
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';
import type { MoveAction, moveControl, moveReceipts, movesComplete } from '@ringwright/wire/moves';
import { usableInfo } from '../peers/usable-info.ts';
import type { Rings } from '../rings/rings.ts';
import type { MoveControls } from './move-controls.ts';
import type { Reconciler } from './reconciler.ts';

export interface MovePorts {
  readonly rings: Rings;
  readonly controls: MoveControls;
  readonly reconciler: Reconciler;
  readonly store: Pick<Store, 'info'>;
}

/** Why each action ends the loads under way. For actions without a text, loads go on. */
const stopTexts: Partial<Record<MoveAction, string>> = {
  pause: 'paused by an operator',
  retry: 'begun anew by an operator',
  force: 'forced by an operator',
};

/** When it resolves, the operator's order is in force and survives a restart. */
export async function answerMoveControl(
  { rings, controls, reconciler, store }: MovePorts,
  { keyspace, action, assignments, refills: asked = [], reason }: RequestOf<typeof moveControl>,
): Promise<AnswerOf<typeof moveControl>> {
  const { ring, self } = rings.get(keyspace);
  const joins = ring.moves.filter(({ to }) => to === self);
  const inFlight = new Set(joins.map(({ assignment }) => assignment));
  if (action === 'force' && reason === null) {
    throw new CodedError('USAGE', 'a move is forced with a reason, or not at all');
  }
  const isRefill = (partition: number): boolean =>
    self !== null &&
    partition < ring.partitions &&
    dutyKindOf(ring, partition, self) === 'SERVE' &&
    isIncomplete(usableInfo(store, keyspace, partition));
  const byId = new Map(joins.map((move) => [move.assignment, move]));
  const moves = [...new Set(assignments)].flatMap((assignment) => byId.get(assignment) ?? []);
  const refills = action === 'force' ? [...new Set(asked)].filter(isRefill) : [];
  await controls.change(keyspace, action, { moves, refills, inFlight, reason });
  const stopped = stopTexts[action];
  if (stopped !== undefined) {
    const named = new Set(moves.map(({ assignment }) => assignment));
    reconciler.stopLoads(keyspace, named, new CodedError('MOVE_STOPPED', stopped));
  }
  reconciler.reconcile(keyspace);
  return { known: moves.length + refills.length };
}

function isIncomplete(info: PartitionInfo | null): boolean {
  return info !== null && info.state !== 'ready';
}

export function answerMoveReceipts(
  { reconciler }: MovePorts,
  { keyspace, assignments }: RequestOf<typeof moveReceipts>,
): AnswerOf<typeof moveReceipts> {
  const lines = reconciler.receipts(keyspace, assignments);
  return { receipts: lines.map((line) => Buffer.from(line)) };
}

export async function answerMovesComplete(
  { reconciler }: MovePorts,
  { keyspace, ringVersion, waitMs }: RequestOf<typeof movesComplete>,
): Promise<AnswerOf<typeof movesComplete>> {
  return { complete: await reconciler.movesComplete(keyspace, ringVersion, waitMs) };
}
