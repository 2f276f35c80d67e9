// Which partitions could still be read and written without some devices, also during moves. Pure.
import { quorumOf } from '@ringwright/ring/quorum';
import { type SlottedRing, slotsOf } from '@ringwright/ring/slots-of';

export interface Availability {
  /** Slots whose device is gone. */
  readonly slotsLost: number;
  /** Partitions with at least one lost slot. */
  readonly partitionsHit: number;
  /**
   * Partitions in which fewer slots than a quorum would acknowledge a write. A slot in flight needs
   * both of its devices.
   */
  readonly belowWriteQuorum: number;
  /** Partitions in which fewer slots than a quorum could answer a read. */
  readonly belowReadQuorum: number;
  /** Partitions of several slots with only one left. */
  readonly oneReplicaLeft: number;
  /** Partitions in which no device of a slot is left: nothing can be read. */
  readonly withoutReplica: number;
  /** Partitions among those that a joiner may hold in part. */
  readonly onlyJoinersLeft: number;
}

/** `gone` is 1 by the id of a device that is away. O(slots). */
export function availabilityOf(ring: SlottedRing, gone: Uint8Array): Availability {
  const counts = {
    slotsLost: 0,
    partitionsHit: 0,
    belowWriteQuorum: 0,
    belowReadQuorum: 0,
    oneReplicaLeft: 0,
    withoutReplica: 0,
    onlyJoinersLeft: 0,
  };
  const isPresent = (id: number | null): boolean => id !== null && gone[id] !== 1;
  for (let partition = 0; partition < ring.partitions; partition += 1) {
    const slots = slotsOf(ring, partition);
    // The partition takes no requests: not yet, or no longer.
    if (slots.length === 0) continue;
    const readable = slots.filter(({ device }) => isPresent(device));
    const writable = readable.filter(({ joiner }) => joiner === null || isPresent(joiner));
    counts.slotsLost += slots.length - readable.length;
    if (readable.length < slots.length) counts.partitionsHit += 1;
    if (writable.length < quorumOf(slots.length)) counts.belowWriteQuorum += 1;
    if (readable.length < quorumOf(slots.length)) counts.belowReadQuorum += 1;
    if (readable.length === 1 && slots.length > 1) counts.oneReplicaLeft += 1;
    if (readable.length > 0) continue;
    counts.withoutReplica += 1;
    if (slots.some(({ joiner }) => isPresent(joiner))) counts.onlyJoinersLeft += 1;
  }
  return counts;
}
