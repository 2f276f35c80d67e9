// What a device must do with a partition under a ring, and to whom it pushes its records. Pure.
// Modeled on EventQL's partition discovery (LOAD, SERVE, UNLOAD), but computed from the ring.
import type { Move } from './move.ts';
import type { Ring } from './ring.ts';
import { holdersOf, movesOf } from './slots-of.ts';

export interface Duty {
  /**
   * SERVE: the table names the device, which answers reads and writes. LOAD: a move brings the
   * partition to the device, which takes writes, and copies once the move is INITIALIZING. UNLOAD:
   * the device should not hold the partition; it drops its file, if any, when `pushTo` have all of
   * it.
   */
  readonly kind: 'SERVE' | 'LOAD' | 'UNLOAD';
  readonly pushTo: readonly number[];
}

/** `pushTo`: every other device that must have the partition's records, joiners included. */
export function dutyOf(ring: Ring, partition: number, device: number): Duty {
  const pushTo = holdersOf(ring, partition).filter((holder) => holder !== device);
  return { kind: dutyKindOf(ring, partition, device), pushTo };
}

/** Returns only the kind of dutyOf, because every request needs it. */
export function dutyKindOf(ring: Ring, partition: number, device: number): Duty['kind'] {
  if (isServing(ring, partition, device)) return 'SERVE';
  return movesOf(ring, partition).some(({ to }) => to === device) ? 'LOAD' : 'UNLOAD';
}

function isServing({ table }: Ring, partition: number, device: number): boolean {
  for (const row of table) if (row[partition] === device) return true;
  return false;
}

/** O(slots). Returns the partitions that a device serves, ascending, and moves that bring more. */
export function dutiesOf(
  ring: Ring,
  device: number,
): { readonly serve: readonly number[]; readonly load: readonly Move[] } {
  const serve = servedBetween(ring, device, { from: 0, until: ring.partitions });
  return { serve, load: loadsOf(ring, device) };
}

/** Returns the partitions in [from, until) that a device serves, ascending. */
export function servedBetween(
  { table }: Pick<Ring, 'table'>,
  device: number,
  { from, until }: { readonly from: number; readonly until: number },
): number[] {
  const serve: number[] = [];
  for (let partition = from; partition < until; partition += 1) {
    for (const row of table) {
      if (row[partition] !== device) continue;
      serve.push(partition);
      break;
    }
  }
  return serve;
}

export function loadsOf({ moves }: Pick<Ring, 'moves'>, device: number): Move[] {
  return moves.filter(({ to }) => to === device);
}
