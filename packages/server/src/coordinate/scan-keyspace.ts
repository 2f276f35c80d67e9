// Reads a keyspace in order, partition by partition: the next records from a position on.
import { type KeyBounds, withinPrefix } from '@ringwright/base/key-bounds';
import { listKeysMax } from '@ringwright/base/limits';
import { scanAnswerBytesMax } from '@ringwright/base/limits-listeners';
import {
  boundsAt,
  nextPosition,
  type ScanPosition,
  scannedOf,
  startOfScan,
} from '@ringwright/ring/partitioner/scan-order';
import type { ConsistencyLevel } from '@ringwright/wire/coordination';
import { type PageRow, unpackPage } from '@ringwright/wire/listing';
import { Turn } from '../replica/turn.ts';
import { coordinateScan } from './coordinate-scan.ts';
import type { CoordinatorPorts } from './with-newest-ring.ts';

/**
 * Maximum of partitions read for one answer, so that a scan of a nearly empty keyspace takes few
 * round trips.
 */
const PARTITIONS_AT_ONCE = 64;

export interface KeyspaceScan extends KeyBounds {
  readonly keyspace: string;
  readonly prefix: Uint8Array;
  /** Where an earlier answer ended; null: from the beginning. */
  readonly position: ScanPosition | null;
  /** Scans only this partition; null: all of them. */
  readonly only: number | null;
  /** Maximum of records to look at, wanted or not. */
  readonly limit: number;
  readonly isWanted?: (key: Uint8Array) => boolean;
  readonly values: boolean;
  readonly consistency: ConsistencyLevel;
}

interface ScanPart {
  readonly rows: readonly PageRow[];
  /** Where the next answer begins; null at the end. */
  readonly position: ScanPosition | null;
}

/**
 * Returns the wanted ones among at most `limit` records from `position` on. There may be fewer,
 * even none, where many partitions are empty or records are long: only a null position is the
 * end. A record that exists during the whole scan is returned once. Throws what coordinateScan
 * throws, and CURSOR_INVALID.
 */
export async function scanKeyspace(ports: CoordinatorPorts, scan: KeyspaceScan): Promise<ScanPart> {
  const { keyspace, limit, isWanted, only, prefix } = scan;
  const { ring } = ports.rings.get(keyspace);
  const scanned = scannedOf(ring, { bounds: withinPrefix(scan, prefix), prefix });
  const rows: PageRow[] = [];
  let position = startOfScan(scanned, ring, scan);
  let [rowsRead, bytes] = [0, 0];
  const turn = new Turn();
  for (let pages = 0; pages < PARTITIONS_AT_ONCE && position !== null; pages += 1) {
    if (rowsRead >= limit || bytes >= scanAnswerBytesMax) break;
    const page = await coordinateScan(ports, {
      ...boundsAt(scanned, position),
      keyspace,
      partition: position.partition,
      arc: position.arc ?? null,
      limit: Math.min(limit - rowsRead, listKeysMax),
      values: scan.values,
      consistency: scan.consistency,
    });
    const found = unpackPage(page.rows);
    rowsRead += found.length;
    for (const row of found) {
      if (isWanted !== undefined && !isWanted(row.key)) continue;
      rows.push(row);
      bytes += row.key.length + (row.value?.length ?? 0);
    }
    // Local pages arrive in the same turn, and matching a pattern takes up to some 40 us a key.
    if (turn.isOver) await turn.next();
    if (page.next !== null) position = { ...position, at: page.next };
    else position = only === null ? nextPosition(scanned, position) : null;
  }
  return { rows, position };
}
