// Cursors of SCAN: numbers that clients send back, without a promise to come.
import { redisCursorsMax } from '@ringwright/base/limits';
import { circleOf } from '@ringwright/ring/partitioner/hash-circle';
import { hashPositions } from '@ringwright/ring/partitioner/hash-intervals';
import { onCircle, type ScanPlace } from '@ringwright/ring/partitioner/scan-order';
import type { Ring } from '@ringwright/ring/ring';

type CursorRing = Pick<Ring, 'keyspace' | 'partitions' | 'partitioner'>;

/** Places inside an arc are numbered below it; with 32 bits of hash and one of the cut it is 2^52. */
const ARC_PLACES = 2 ** 19;
/** The same inside a partition, of which there are up to 2^24. */
const PARTITION_PLACES = 2 ** 28;
/** SCAN has no other direction. */
const forward = { bounds: { from: new Uint8Array(), to: null, reverse: false } };

/**
 * A cursor is start * places + place. The start is the hash behind which an arc begins, with a bit
 * that says on which side of hash 0 the scan began; of other keyspaces it is the partition. Place 0
 * is the start itself: such a cursor is good on every server, for ever, and of hashes whatever is
 * split and merged. Other places are remembered here, the oldest forgotten first; a forgotten one
 * means its arc from the start. SCAN may give a key twice, it must not leave one out.
 */
export class ScanCursors {
  readonly #places = new Map<number, { readonly keyspace: string; readonly place: ScanPlace }>();
  #next: number;

  /** `first` differs between lives of a server, so that cursors of an earlier one are not found. */
  constructor(first: number) {
    this.#next = first;
  }

  /** Null when the number is no cursor of the ring's keyspace. */
  read(cursor: number, { keyspace, partitions, partitioner }: CursorRing): ScanPlace | null {
    if (!Number.isSafeInteger(cursor) || cursor < 0) return null;
    const known = this.#places.get(cursor);
    if (known?.keyspace === keyspace) return known.place;
    const circle = circleOf(partitioner);
    if (circle === null) {
      const partition = Math.floor(cursor / PARTITION_PLACES);
      return partition < partitions ? { partition, at: new Uint8Array() } : null;
    }
    const start = Math.floor(cursor / ARC_PLACES);
    const [from, cut] = [Math.floor(start / 2), start % 2 === 0 ? 0 : hashPositions - 1];
    return from < hashPositions ? onCircle(forward, circle, { from, cut }) : null;
  }

  /** The cursor of a place; 0 is the end of a scan. */
  write(place: ScanPlace | null, { keyspace }: Pick<CursorRing, 'keyspace'>): number {
    if (place === null) return 0;
    const { partition, arc, cut, at } = place;
    const places = arc === undefined ? PARTITION_PLACES : ARC_PLACES;
    const start = arc === undefined ? partition : arc.start * 2 + (cut === 0 ? 0 : 1);
    if (at.length === 0) return start * places;
    this.#next = (this.#next + 1) % places || 1;
    const cursor = start * places + this.#next;
    // Copied: the key is a view of a whole frame.
    this.#places.set(cursor, { keyspace, place: { ...place, at: Uint8Array.from(at) } });
    const [oldest] = this.#places.keys();
    if (this.#places.size > redisCursorsMax && oldest !== undefined) this.#places.delete(oldest);
    return cursor;
  }
}
