// This device's answers to operators about moves and files: what they say of moves, receipts, what
// is in the trash, what comes back, what may go.
import { CodedError } from '@ringwright/base/coded-error';
import { trashListMax } from '@ringwright/base/limits-copies';
import type { PartitionInfo } from '@ringwright/partition/file/partition-info';
import type { Store } from '@ringwright/partition/store';
import { dutyKindOf, dutyOf } from '@ringwright/ring/duty-of';
import { isRetired } from '@ringwright/ring/reshape-ring';
import type { Ring } from '@ringwright/ring/ring';
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';
import type { MoveAction, moveControl, moveReceipts, movesComplete } from '@ringwright/wire/moves';
import type { confirmDrops, trashList, trashRestore } from '@ringwright/wire/trash';
import { usableInfo } from '../peers/holdings.ts';
import { notResponsible } from '../replica/replica.ts';
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
  retry: 'restarted by an operator',
  force: 'forced by an operator',
};

/** When it resolves, the operator's order is in force and survives a restart. */
export async function answerMoveControl(
  { rings, controls, reconciler, store }: MovePorts,
  { keyspace, action, assignments, refills: requested = [], reason }: RequestOf<typeof moveControl>,
): Promise<AnswerOf<typeof moveControl>> {
  const { ring, self } = rings.get(keyspace);
  const joins = ring.moves.filter(({ to }) => to === self);
  const inFlight = new Set(joins.map(({ assignment }) => assignment));
  if (action === 'force' && reason === null) {
    throw new CodedError('USAGE', 'forcing a move needs a reason');
  }
  const isRefill = (partition: number): boolean =>
    self !== null &&
    partition < ring.partitions &&
    dutyKindOf(ring, partition, self) === 'SERVE' &&
    isIncomplete(usableInfo(store, keyspace, partition));
  const byId = new Map(joins.map((move) => [move.assignment, move]));
  const moves = [...new Set(assignments)].flatMap((assignment) => byId.get(assignment) ?? []);
  const refills = action === 'force' ? [...new Set(requested)].filter(isRefill) : [];
  await controls.change(keyspace, action, { moves, refills, inFlight, reason });
  const stopText = stopTexts[action];
  if (stopText !== undefined) {
    const stoppedIds = new Set(moves.map(({ assignment }) => assignment));
    reconciler.stopLoads(keyspace, stoppedIds, new CodedError('MOVE_STOPPED', stopText));
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

export interface TrashPorts {
  readonly store: Store;
  readonly rings: Rings;
  readonly reconciler: Reconciler;
}

export async function answerTrashList(
  { store }: TrashPorts,
  { keyspace }: RequestOf<typeof trashList>,
): Promise<AnswerOf<typeof trashList>> {
  const all = (await store.trash.list()).filter((item) => item.keyspace === keyspace);
  const newest = all.toReversed().slice(0, trashListMax);
  return {
    items: newest.map(({ name, atMs, partition, incarnation, bytes }) => {
      return { name, atMs, partition, incarnation, bytes };
    }),
    count: all.length,
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/**
 * Throws RING_UNKNOWN, NOT_RESPONSIBLE for a device outside the ring, TRASH_UNKNOWN, TRASH_RETIRED
 * and others.
 */
export async function answerTrashRestore(
  { store, rings, reconciler }: TrashPorts,
  { keyspace, name }: RequestOf<typeof trashRestore>,
): Promise<AnswerOf<typeof trashRestore>> {
  const active = rings.get(keyspace);
  const items = await store.trash.list();
  const item = items.find((one) => one.name === name && one.keyspace === keyspace);
  if (item === undefined) {
    throw new CodedError('TRASH_UNKNOWN', `no dropped partition '${name}' of '${keyspace}' here`, {
      hint: `ring-builder trash ${keyspace} list`,
    });
  }
  requirePresent(active.ring, item);
  // The ring would give the restored file no use here.
  if (active.self === null) throw notResponsible(active, item.partition);
  const { partition, rows } = await store.trash.restore(name);
  reconciler.reconcile(keyspace);
  return { partition, rows, duty: dutyOf(active.ring, partition, active.self).kind };
}

/**
 * Throws TRASH_RETIRED: the records went to other partitions or were retired, so the file has no
 * place to return to.
 */
function requirePresent(
  ring: Ring,
  { name, partition }: { readonly name: string; readonly partition: number },
): void {
  if (partition < ring.partitions && !isRetired(ring)(partition)) return;
  const message =
    `dropped file '${name}' cannot be restored: partition ${partition} of '${ring.keyspace}' ` +
    'was split, merged or retired';
  throw new CodedError('TRASH_RETIRED', message, {
    hint:
      'the records of a split or merged partition are in the partitions that ' +
      `ring-builder table ${ring.keyspace} lists; those of a retired one come from an archive, ` +
      `if there is one: ring-builder restore-data ${ring.keyspace} --from FOLDER`,
    details: { name, partition, partitions: ring.partitions, ringVersion: ring.version },
  });
}

export async function answerConfirmDrops(
  { reconciler }: TrashPorts,
  { keyspace, ringId, count }: RequestOf<typeof confirmDrops>,
): Promise<AnswerOf<typeof confirmDrops>> {
  await reconciler.confirmDrops(keyspace, { ringId, count });
  return { confirmed: count };
}
