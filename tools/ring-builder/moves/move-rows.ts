// Where every move of a ring stands, from the ring and what its servers say. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import type { Move } from '@ringwright/ring/move';
import type { Ring } from '@ringwright/ring/ring';
import type { RingStatus, Room } from '../servers/server-status.ts';

/** In the order in which they are shown: what needs eyes first. */
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

/** One slot on its way, or one file that its old holder has yet to drop. */
export interface MoveRow {
  readonly partition: number;
  /** Null for a file to drop, as are the two that follow: the ring has forgotten that move. */
  readonly replica: number | null;
  readonly assignment: number | null;
  readonly to: number | null;
  /** Null: the slot is new. */
  readonly from: number | null;
  readonly stage: MoveStage;
  readonly bytes: number;
  /** 0 while nobody knows. */
  readonly bytesTotal: number;
  readonly rows: number;
  /** An operator put it first. */
  readonly first: boolean;
  /** Why it failed, or what it waits for; may be empty. */
  readonly reason: string;
  /** What it lacked, on the disk of the joiner or of whom it copies from. */
  readonly room?: Room;
}

/** What the server of each device says of the ring, or why it says nothing. */
export type Said = ReadonlyMap<number, RingStatus | Error>;

/** Rows in the order of moveStages, then by partition. */
export function moveRows(ring: Pick<Ring, 'moves'>, said: Said): MoveRow[] {
  const rows = [...ring.moves.map((move) => rowOf(move, said.get(move.to))), ...drops(said)];
  const order = (row: MoveRow): number => moveStages.indexOf(row.stage);
  return rows.sort((a, b) => order(a) - order(b) || a.partition - b.partition);
}

function rowOf(move: Move, said: RingStatus | Error | undefined): MoveRow {
  const { partition, replica, from, to, assignment } = move;
  const row = { partition, replica, assignment, from, to, ...nothingYet };
  if (said === undefined) {
    const reason = `d${to} is on no server that is known; health tells of another --device`;
    return { ...row, reason };
  }
  if (move.state === 'PROPOSED' && hasNoRing(said)) {
    return { ...row, reason: `no rollout has given the ring to d${to} yet` };
  }
  if (said instanceof Error) return { ...row, stage: 'failed', reason: said.message };
  const first = said.first.includes(assignment);
  const load = said.loads.find((one) => one.assignment === assignment);
  const paused = said.paused.includes(assignment);
  if (load === undefined) {
    const why = whyNotBegun(move, said);
    return { ...row, first, stage: paused ? 'paused' : 'queued', ...why };
  }
  const { bytes, bytesTotal, rows, stage, room } = load;
  const held = paused && stage !== 'available';
  const waits = held || stage === 'queued' || stage === 'paused';
  const reason = load.reason === '' && waits ? waitText(held) : load.reason;
  const shown = { ...row, bytes, bytesTotal, rows, first, reason, ...(room && { room }) };
  return { ...shown, stage: held ? 'paused' : stage };
}

/** It answers, and was never given the ring: a new device before its first rollout. */
export function hasNoRing(said: RingStatus | Error | undefined): boolean {
  return said instanceof CodedError && said.code === 'RING_UNKNOWN';
}

/** Nobody waits without a reason that the operator can see. */
function whyNotBegun(
  { state, assignment, to }: Move,
  said: RingStatus,
): Pick<MoveRow, 'reason' | 'room'> {
  if (said.paused.includes(assignment)) return { reason: waitText(true) };
  // Of no single partition: a disk that is too full even for the first, empty file.
  const [failing] = said.failing;
  if (failing !== undefined) {
    const { step, reason, room } = failing;
    return { reason: `${step} fails: ${reason}`, ...(room && { room }) };
  }
  if (state === 'PROPOSED') return { reason: 'waits for every server to know of it' };
  return { reason: `d${to} has version ${said.version} and has not begun` };
}

function waitText(isPaused: boolean): string {
  return isPaused ? 'paused by an operator' : 'waits for its turn';
}

const nothingYet = {
  stage: 'queued',
  bytes: 0,
  bytesTotal: 0,
  rows: 0,
  first: false,
  reason: '',
} as const;

function drops(said: Said): MoveRow[] {
  return [...said].flatMap(([device, status]) => {
    if (status instanceof Error) return [];
    return status.draining.map(({ partition, reason }): MoveRow => {
      const gone = { replica: null, assignment: null, to: null };
      return { partition, ...gone, from: device, ...nothingYet, stage: 'dropping', reason };
    });
  });
}
