// Which partitions could still be read and written without some devices, in mid-move too. Pure.
import type { Move } from '@ringwright/ring/move';
import { quorumOf } from '@ringwright/ring/quorum';
import { holderIn, type Ring } from '@ringwright/ring/ring';

export interface Availability {
  /** Slots whose device is gone. */
  readonly slotsLost: number;
  /** Partitions with at least one slot lost. */
  readonly partitionsHit: number;
  /** Fewer slots than a quorum would acknowledge a write; a moving slot needs both its devices. */
  readonly belowWriteQuorum: number;
  /** Fewer slots than a quorum could answer a read. */
  readonly belowReadQuorum: number;
  /** No device that serves a slot is left: nothing can be read. */
  readonly withoutReplica: number;
  /** Of those, partitions that a joiner may hold in part. */
  readonly onlyJoinersLeft: number;
}

const none: readonly Move[] = [];

/** `gone` is 1 by the id of a device that is away. O(slots). */
export function availabilityOf(
  ring: Pick<Ring, 'table' | 'partitions' | 'moves'>,
  gone: Uint8Array,
): Availability {
  const found = {
    slotsLost: 0,
    partitionsHit: 0,
    belowWriteQuorum: 0,
    belowReadQuorum: 0,
    withoutReplica: 0,
    onlyJoinersLeft: 0,
  };
  let next = 0;
  for (let partition = 0; partition < ring.partitions; partition += 1) {
    const first = next;
    while (ring.moves[next]?.partition === partition) next += 1;
    const moves = first === next ? none : ring.moves.slice(first, next);
    const { slots, readable, writable, joiners } = countSlots(ring, { partition, moves, gone });
    // It takes no requests: not yet, or no more.
    if (slots === 0) continue;
    found.slotsLost += slots - readable;
    if (readable < slots) found.partitionsHit += 1;
    if (writable < quorumOf(slots)) found.belowWriteQuorum += 1;
    if (readable < quorumOf(slots)) found.belowReadQuorum += 1;
    if (readable > 0) continue;
    found.withoutReplica += 1;
    if (joiners > 0) found.onlyJoinersLeft += 1;
  }
  return found;
}

interface SlotCount {
  slots: number;
  readable: number;
  writable: number;
  /** Joiners that are there. */
  joiners: number;
}

function countSlots(
  { table }: Pick<Ring, 'table'>,
  at: { readonly partition: number; readonly moves: readonly Move[]; readonly gone: Uint8Array },
): SlotCount {
  const { partition, moves, gone } = at;
  const count: SlotCount = { slots: 0, readable: 0, writable: 0, joiners: 0 };
  for (let replica = 0; replica < table.length; replica += 1) {
    const row = table[replica];
    const device = row && holderIn(row, partition);
    if (device === undefined) continue;
    count.slots += 1;
    const joiner = moves.find((move) => move.replica === replica)?.to;
    const joinerIsThere = joiner !== undefined && gone[joiner] !== 1;
    if (joinerIsThere) count.joiners += 1;
    if (gone[device] === 1) continue;
    count.readable += 1;
    if (joiner === undefined || joinerIsThere) count.writable += 1;
  }
  return count;
}
