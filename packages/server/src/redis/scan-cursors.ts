// Cursors of SCAN: numbers that clients send back, without a promise to come.
import { redisCursorsMax } from '@ringwright/base/limits';
import type { ScanPlace } from '@ringwright/ring/partitioner/scan-order';

/** Places inside partitions are numbered below it; 24 bits of partition and 28 make 2^52. */
const PLACE_SPAN = 2 ** 28;

/**
 * A cursor is partition * 2^28 + place. Place 0 is the start of the partition: such a cursor is
 * good on every server, for ever, and under every ring of the keyspace, since the partition of a
 * key never changes. Other places are remembered here, the oldest forgotten first; a forgotten one
 * means its partition from the start. SCAN may give a key twice, it must not leave one out.
 */
export class ScanCursors {
  readonly #places = new Map<number, { readonly keyspace: string; readonly at: Uint8Array }>();
  #next: number;

  /** `first` differs between lives of a server, so that cursors of an earlier one are not found. */
  constructor(first: number) {
    this.#next = first % PLACE_SPAN;
  }

  /** Null when the number is no cursor of a keyspace with so many partitions. */
  read(cursor: number, keyspace: string, partitions: number): ScanPlace | null {
    const partition = Math.floor(cursor / PLACE_SPAN);
    if (!Number.isSafeInteger(cursor) || cursor < 0 || partition >= partitions) return null;
    const place = this.#places.get(cursor);
    return { partition, at: place?.keyspace === keyspace ? place.at : new Uint8Array() };
  }

  /** The cursor of a place; 0 is the end of a scan. */
  write(place: ScanPlace | null, keyspace: string): number {
    if (place === null) return 0;
    const { partition, at } = place;
    if (at.length === 0) return partition * PLACE_SPAN;
    this.#next = (this.#next + 1) % PLACE_SPAN || 1;
    const cursor = partition * PLACE_SPAN + this.#next;
    // Copied: the key is a view of a whole frame.
    this.#places.set(cursor, { keyspace, at: Uint8Array.from(at) });
    const [oldest] = this.#places.keys();
    if (this.#places.size > redisCursorsMax && oldest !== undefined) this.#places.delete(oldest);
    return cursor;
  }
}
