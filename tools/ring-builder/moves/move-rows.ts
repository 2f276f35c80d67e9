// Combines the moves of a ring with the reports of its servers. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import type { Move } from '@ringwright/ring/move';
import type { Ring } from '@ringwright/ring/ring';
import { needsToken } from '../servers/advice-rows.ts';
import type { RingStatus, Room } from '../servers/server-status.ts';

/** In display order: stages that need attention come first. */
export const moveStages = [
  'failed',
  'verifying',
  'catching-up',
  'copying',
  'reserving',
  'paused',
  'queued',
  'dropping',
  'available',
] as const;
export type MoveStage = (typeof moveStages)[number];

/** A moving slot, or a file that its old holder must still drop. */
export interface MoveRow {
  readonly partition: number;
  /** Null for a file to drop, like the next two: the ring no longer has that move. */
  readonly replica: number | null;
  readonly assignment: number | null;
  readonly to: number | null;
  /** Null: the slot is new. */
  readonly from: number | null;
  readonly stage: MoveStage;
  readonly bytes: number;
  /** 0 while unknown. */
  readonly bytesTotal: number;
  readonly rows: number;
  /** An operator has prioritized it. */
  readonly first: boolean;
  /** Why it failed, or what it waits for; may be empty. */
  readonly reason: string;
  /** Disk space that it lacked, at the joiner or at its source. */
  readonly room?: Room;
}

/** By device, what its server reports about the ring, or why it did not answer. */
export type StatusByDevice = ReadonlyMap<number, RingStatus | Error>;

/** Returns rows in the order of moveStages, then by partition. */
export function moveRows(ring: Pick<Ring, 'moves'>, statuses: StatusByDevice): MoveRow[] {
  const progress = new Map([...statuses].map(([device, status]) => [device, progressIn(status)]));
  const rows = [
    ...ring.moves.map((move) => rowOf(move, progress.get(move.to))),
    ...drops(statuses),
  ];
  const order = (row: MoveRow): number => moveStages.indexOf(row.stage);
  return rows.sort((a, b) => order(a) - order(b) || a.partition - b.partition);
}

/** By assignment id: a server may report a load for each of 65,536 moves. */
interface Progress {
  readonly status: RingStatus;
  readonly loads: ReadonlyMap<number | null, RingStatus['loads'][number]>;
  readonly paused: ReadonlySet<number>;
  readonly first: ReadonlySet<number>;
}

function progressIn(status: RingStatus | Error): Progress | Error {
  if (status instanceof Error) return status;
  const loads = new Map(status.loads.map((load) => [load.assignment, load]));
  return { status, loads, paused: new Set(status.paused), first: new Set(status.first) };
}

function rowOf(move: Move, progress: Progress | Error | undefined): MoveRow {
  const { partition, replica, from, to, assignment } = move;
  const row = { partition, replica, assignment, from, to, ...noProgress };
  if (progress === undefined) {
    return { ...row, reason: `no server answers as d${to}; health says what is known of it` };
  }
  if (move.state === 'PROPOSED' && hasNoRing(progress)) {
    return { ...row, reason: `no rollout has sent the ring to d${to} yet` };
  }
  if (progress instanceof Error) return { ...row, stage: 'failed', reason: progress.message };
  const first = progress.first.has(assignment);
  const load = progress.loads.get(assignment);
  const paused = progress.paused.has(assignment);
  if (load === undefined) {
    const why = paused ? { reason: waitText(true) } : whyNotBegun(move, progress.status);
    return { ...row, first, stage: paused ? 'paused' : 'queued', ...why };
  }
  const { bytes, bytesTotal, rows, stage, room } = load;
  const held = paused && stage !== 'available';
  const isWaiting = held || stage === 'queued' || stage === 'paused';
  const reason = load.reason === '' && isWaiting ? waitText(held) : load.reason;
  const progressRow = { ...row, bytes, bytesTotal, rows, first, reason, ...(room && { room }) };
  return { ...progressRow, stage: held ? 'paused' : stage };
}

/**
 * Whether the server answers but was never sent the ring: a new device before its first rollout.
 */
export function hasNoRing(status: unknown): boolean {
  return status instanceof CodedError && status.code === 'RING_UNKNOWN';
}

/** Whether the server runs, but refuses the token of this command, or that it shows none. */
export function hasNoAccess(status: unknown): status is CodedError {
  return status instanceof CodedError && needsToken.has(status.code);
}

/** Whether no server answers for the device. One that refuses this command runs. */
export function isSilent(statuses: StatusByDevice, device: number): boolean {
  const status = statuses.get(device) ?? new Error();
  return status instanceof Error && !hasNoAccess(status);
}

/** Gives a reason for every move that has not begun and is not paused. */
function whyNotBegun({ state, to }: Move, status: RingStatus): Pick<MoveRow, 'reason' | 'room'> {
  // A failure that concerns no single partition: the disk is too full for the first, empty file.
  const [failing] = status.failing;
  if (failing !== undefined) {
    const { step, reason, room } = failing;
    return { reason: `${step} fails: ${reason}`, ...(room && { room }) };
  }
  if (state === 'PROPOSED') return { reason: 'waiting until every server knows of it' };
  return { reason: `d${to} has version ${status.version} and has not started` };
}

function waitText(isPaused: boolean): string {
  return isPaused ? 'paused by an operator' : 'waits for its turn';
}

const noProgress = {
  stage: 'queued',
  bytes: 0,
  bytesTotal: 0,
  rows: 0,
  first: false,
  reason: '',
} as const;

function drops(statuses: StatusByDevice): MoveRow[] {
  return [...statuses].flatMap(([device, status]) => {
    if (status instanceof Error) return [];
    return status.draining.map(({ partition, reason }): MoveRow => {
      const gone = { replica: null, assignment: null, to: null };
      return { partition, ...gone, from: device, ...noProgress, stage: 'dropping', reason };
    });
  });
}
