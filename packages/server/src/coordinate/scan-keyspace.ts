// Reads a keyspace in order, partition by partition: the next records behind a place.
import { setImmediate } from 'node:timers/promises';
import { boundsFrom, type KeyBounds, withinPrefix } from '@ringwright/base/key-bounds';
import { listKeysMax } from '@ringwright/base/limits';
import { partitionerOf } from '@ringwright/ring/partitioner/partition-of-key';
import {
  firstCut,
  firstPartition,
  isOrdered,
  partitionerAt,
  placeAfter,
  type Scanned,
  type ScanPlace,
} from '@ringwright/ring/partitioner/scan-order';
import { type PageRow, unpackPage } from '@ringwright/wire/listing';
import type { Consistency } from './consistency.ts';
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
  readonly consistency: Consistency;
}

export interface ScanPart {
  readonly rows: readonly PageRow[];
  /** Where to go on; null at the end. */
  readonly place: ScanPlace | null;
}

/**
 * The wanted ones among at most `limit` records from `place` on. Every one that is there from the
 * first call to the last is given once. Throws as coordinateScan, and CURSOR_INVALID.
 */
export async function scanKeyspace(ports: CoordinatorPorts, scan: KeyspaceScan): Promise<ScanPart> {
  const { keyspace, limit, isWanted, only } = scan;
  const scanned = scannedBy(ports, scan);
  const rows: PageRow[] = [];
  let place = startOf(scanned, scan);
  let [looked, turnEnds] = [0, listKeysMax];
  for (let turn = 0; turn < PARTITIONS_AT_ONCE && looked < limit && place !== null; turn += 1) {
    const { partition } = place;
    const page = await coordinateScan(ports, {
      ...boundsFrom(scanned.bounds, place.at),
      keyspace,
      partition,
      limit: Math.min(limit - looked, listKeysMax),
      values: scan.values,
      consistency: scan.consistency,
    });
    const found = unpackPage(page.rows);
    looked += Math.max(found.length, 1);
    rows.push(...(isWanted === undefined ? found : found.filter(({ key }) => isWanted(key))));
    if (looked >= turnEnds) {
      // What lies here comes in the same turn, and a pattern takes some 40 us a key at worst.
      await setImmediate();
      turnEnds = looked + listKeysMax;
    }
    if (page.next !== null) place = { ...place, at: page.next };
    else place = only === null ? placeAfter(scanned, partition) : null;
  }
  return { rows, place };
}

function scannedBy(ports: CoordinatorPorts, scan: KeyspaceScan): Scanned {
  const { ring } = ports.rings.get(scan.keyspace);
  const partitioner = partitionerAt(ring, scan.place);
  const partitionOf = partitionerOf(partitioner);
  const cut = scan.place === null ? firstCut(partitioner) : scan.place.cut;
  return {
    cut,
    partitioner,
    partitionOf,
    bounds: withinPrefix(scan, scan.prefix),
    prefix: scan.prefix,
  };
}

function startOf(scanned: Scanned, { place, only }: KeyspaceScan): ScanPlace | null {
  if (place === null) {
    const partition = only ?? firstPartition(scanned);
    return partition === null ? null : { partition, at: new Uint8Array(), cut: scanned.cut };
  }
  if (!isOrdered(scanned.partitioner) || place.at.length === 0) return place;
  // Of ordered keys only the place counts, whatever the partitions are now.
  const partition = firstPartition({ ...scanned, bounds: boundsFrom(scanned.bounds, place.at) });
  return partition === null ? null : { partition, at: place.at };
}
