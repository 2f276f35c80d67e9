// Reads a keyspace in order, partition by partition: the next records behind a place.
import { type KeyBounds, withinPrefix } from '@ringwright/base/key-bounds';
import { listKeysMax } from '@ringwright/base/limits';
import { scanAnswerBytesMax } from '@ringwright/base/limits-listeners';
import {
  boundsAt,
  firstPlace,
  placeAfter,
  placeNow,
  placeOf,
  type ScanPlace,
  scannedOf,
} from '@ringwright/ring/partitioner/scan-order';
import type { ConsistencyLevel } from '@ringwright/wire/coordination';
import { type PageRow, unpackPage } from '@ringwright/wire/listing';
import { Turn } from '../replica/turn.ts';
import { coordinateScan } from './coordinate-scan.ts';
import type { CoordinatorPorts } from './with-newest-ring.ts';

/** Partitions looked at in one answer: of a nearly empty keyspace a scan takes few round trips. */
const PARTITIONS_AT_ONCE = 64;

export interface KeyspaceScan extends KeyBounds {
  readonly keyspace: string;
  readonly prefix: Uint8Array;
  /** Where an earlier answer ended; null: from the first. */
  readonly place: ScanPlace | null;
  /** This partition alone; null: all. */
  readonly only: number | null;
  /** Records looked at, wanted or not. */
  readonly limit: number;
  readonly isWanted?: (key: Uint8Array) => boolean;
  readonly values: boolean;
  readonly consistency: ConsistencyLevel;
}

interface ScanPart {
  readonly rows: readonly PageRow[];
  /** Where to go on; null at the end. */
  readonly place: ScanPlace | null;
}

/**
 * The wanted ones among at most `limit` records from `place` on; fewer, perhaps none, where many
 * partitions are empty or records are long: only a null place is the end. Every one that is there
 * from the first call to the last is given once. Throws as coordinateScan, and CURSOR_INVALID.
 */
export async function scanKeyspace(ports: CoordinatorPorts, scan: KeyspaceScan): Promise<ScanPart> {
  const { keyspace, limit, isWanted, only, prefix } = scan;
  const { ring } = ports.rings.get(keyspace);
  const scanned = scannedOf(ring, { bounds: withinPrefix(scan, prefix), prefix });
  const first = only === null ? firstPlace(scanned) : placeOf(scanned, only);
  const rows: PageRow[] = [];
  let place = scan.place === null ? first : placeNow(scanned, ring, scan.place);
  let [looked, bytes] = [0, 0];
  const turn = new Turn();
  for (let pages = 0; pages < PARTITIONS_AT_ONCE && place !== null; pages += 1) {
    if (looked >= limit || bytes >= scanAnswerBytesMax) break;
    const page = await coordinateScan(ports, {
      ...boundsAt(scanned, place),
      keyspace,
      partition: place.partition,
      arc: place.arc ?? null,
      limit: Math.min(limit - looked, listKeysMax),
      values: scan.values,
      consistency: scan.consistency,
    });
    const found = unpackPage(page.rows);
    looked += found.length;
    for (const row of found) {
      if (isWanted !== undefined && !isWanted(row.key)) continue;
      rows.push(row);
      bytes += row.key.length + (row.value?.length ?? 0);
    }
    // What lies here comes in the same turn, and a pattern takes some 40 us a key at worst.
    if (turn.isOver) await turn.next();
    if (page.next !== null) place = { ...place, at: page.next };
    else place = only === null ? placeAfter(scanned, place) : null;
  }
  return { rows, place };
}
