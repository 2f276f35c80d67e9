// Which partitions could still be read and written without some devices, in mid-move too. Pure.
import { quorumOf } from '@ringwright/ring/quorum';
import { type SlottedRing, slotsOf } from '@ringwright/ring/slots-of';

export interface Availability {
  /** Slots whose device is gone. */
  readonly slotsLost: number;
  /** Partitions with at least one slot lost. */
  readonly partitionsHit: number;
  /** Fewer slots than a quorum would acknowledge a write; a moving slot needs both its devices. */
  readonly belowWriteQuorum: number;
  /** Fewer slots than a quorum could answer a read. */
  readonly belowReadQuorum: number;
  /** One slot of several is left. */
  readonly oneReplicaLeft: number;
  /** No device that serves a slot is left: nothing can be read. */
  readonly withoutReplica: number;
  /** Of those, partitions that a joiner may hold in part. */
  readonly onlyJoinersLeft: number;
}

/** `gone` is 1 by the id of a device that is away. O(slots). */
export function availabilityOf(ring: SlottedRing, gone: Uint8Array): Availability {
  const found = {
    slotsLost: 0,
    partitionsHit: 0,
    belowWriteQuorum: 0,
    belowReadQuorum: 0,
    oneReplicaLeft: 0,
    withoutReplica: 0,
    onlyJoinersLeft: 0,
  };
  const isThere = (id: number | null): boolean => id !== null && gone[id] !== 1;
  for (let partition = 0; partition < ring.partitions; partition += 1) {
    const slots = slotsOf(ring, partition);
    // It takes no requests: not yet, or no more.
    if (slots.length === 0) continue;
    const readable = slots.filter(({ device }) => isThere(device));
    const writable = readable.filter(({ joiner }) => joiner === null || isThere(joiner));
    found.slotsLost += slots.length - readable.length;
    if (readable.length < slots.length) found.partitionsHit += 1;
    if (writable.length < quorumOf(slots.length)) found.belowWriteQuorum += 1;
    if (readable.length < quorumOf(slots.length)) found.belowReadQuorum += 1;
    if (readable.length === 1 && slots.length > 1) found.oneReplicaLeft += 1;
    if (readable.length > 0) continue;
    found.withoutReplica += 1;
    if (slots.some(({ joiner }) => isThere(joiner))) found.onlyJoinersLeft += 1;
  }
  return found;
}
