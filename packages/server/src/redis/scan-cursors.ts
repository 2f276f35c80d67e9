// Cursors of SCAN: numbers that clients send back, without a promise to come.
import { redisCursorsMax } from '@ringwright/base/limits';
import { liveIds } from '@ringwright/ring/partitioner/live-ids';
import type { ScanPlace } from '@ringwright/ring/partitioner/scan-order';
import type { Ring } from '@ringwright/ring/ring';

type CursorRing = Pick<Ring, 'keyspace' | 'partitions' | 'partitioner' | 'reshape'>;

/** The order of hashes may be another one than when the scan began. */
function wasReshaped({ partitioner, reshape }: Pick<Ring, 'partitioner' | 'reshape'>): boolean {
  if (partitioner.kind !== 'hash-intervals') return false;
  return reshape !== undefined || liveIds(partitioner) !== null;
}

/** Places inside partitions are numbered below it; 24 bits of partition and 28 make 2^52. */
const PLACE_SPAN = 2 ** 28;

/**
 * A cursor is partition * 2^28 + place. Place 0 is the start of the partition: such a cursor is
 * good on every server, for ever, and under every ring of the keyspace in which nothing was split
 * or merged. Other places are remembered here, the oldest forgotten first; a forgotten one means
 * its partition from the start, or is refused where that would not do. SCAN may give a key twice,
 * it must not leave one out.
 */
export class ScanCursors {
  readonly #places = new Map<
    number,
    Omit<ScanPlace, 'partition'> & { readonly keyspace: string }
  >();
  #next: number;

  /** `first` differs between lives of a server, so that cursors of an earlier one are not found. */
  constructor(first: number) {
    this.#next = first % PLACE_SPAN;
  }

  /** Null when the number is no cursor of the ring's keyspace. */
  read(cursor: number, { keyspace, partitions, ...ring }: CursorRing): ScanPlace | null {
    const partition = Math.floor(cursor / PLACE_SPAN);
    if (!Number.isSafeInteger(cursor) || cursor < 0 || partition >= partitions) return null;
    const place = this.#places.get(cursor);
    if (place?.keyspace === keyspace) return { partition, at: place.at, cut: place.cut };
    return cursor > 0 && wasReshaped(ring) ? null : { partition, at: new Uint8Array() };
  }

  /** The cursor of a place; 0 is the end of a scan. */
  write(place: ScanPlace | null, { keyspace, ...ring }: CursorRing): number {
    if (place === null) return 0;
    const { partition, at, cut } = place;
    if (at.length === 0 && !wasReshaped(ring)) return partition * PLACE_SPAN;
    this.#next = (this.#next + 1) % PLACE_SPAN || 1;
    const cursor = partition * PLACE_SPAN + this.#next;
    // Copied: the key is a view of a whole frame.
    this.#places.set(cursor, { keyspace, at: Uint8Array.from(at), cut });
    const [oldest] = this.#places.keys();
    if (this.#places.size > redisCursorsMax && oldest !== undefined) this.#places.delete(oldest);
    return cursor;
  }
}
