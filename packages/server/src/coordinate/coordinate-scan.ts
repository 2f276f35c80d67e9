// Reads a page of a partition at a consistency level: the records of one slot and the digests of
// the others. Only where the digests differ are the records of all slots read.
import { byteText } from '@ringwright/base/as-buffer';
import { comparePositions, type KeyBounds, positionAfterKey } from '@ringwright/base/key-bounds';
import { differingKeysAtOnce, listTurnBytesMax } from '@ringwright/base/limits';
import { scanSourcesAtOnce } from '@ringwright/base/limits-listeners';
import { mapConcurrent } from '@ringwright/base/map-concurrent';
import { compareStamps } from '@ringwright/base/stamp';
import { isDeletedAt } from '@ringwright/partition/file/record';
import type { HashArc } from '@ringwright/ring/partitioner/hash-circle';
import { slotsOf } from '@ringwright/ring/slots-of';
import type { ConsistencyLevel } from '@ringwright/wire/coordination';
import { type PageRow, packPage, pageRead, unpackPage } from '@ringwright/wire/listing';
import type { AnswerOf } from '@ringwright/wire/message';
import type { ActiveRing } from '../rings/active-ring.ts';
import { coordinateRead } from './coordinate.ts';
import { askSlots } from './quorum-read.ts';
import { tooFewSlots } from './quorum-write.ts';
import { type ScanSource, scanSource } from './scan-source.ts';
import { slotsNeeded } from './slot-acks.ts';
import { type CoordinatorPorts, withNewestRing } from './with-newest-ring.ts';

interface ScanRequest extends KeyBounds {
  readonly keyspace: string;
  readonly partition: number;
  /**
   * Limits the scan to these hashes, in whichever partitions they are now; null: the whole
   * partition.
   */
  readonly arc: HashArc | null;
  readonly limit: number;
  /** False: records come with empty values. */
  readonly values: boolean;
  readonly consistency: ConsistencyLevel;
}

export interface ScanPage {
  /** The live records in scan order, packed for unpackPage. */
  readonly rows: Uint8Array;
  /** Where the next page begins; null at the end of the interval. */
  readonly next: Uint8Array | null;
}

type Page = AnswerOf<typeof pageRead>;

/**
 * Returns one page. A record that exists during the whole scan is in exactly one page of it. Throws
 * NOT_ENOUGH_REPLICAS, RING_UNKNOWN, and CURSOR_INVALID for a retired partition without an arc that
 * the ring no longer knows.
 */
export async function coordinateScan(
  ports: CoordinatorPorts,
  request: ScanRequest,
): Promise<ScanPage> {
  for (;;) {
    const { ring } = ports.rings.get(request.keyspace);
    const source = scanSource(ring, request);
    try {
      return await readSource(ports, request, source);
    } catch (error) {
      // Tries again if the partition was split or merged in the meantime.
      const { partitions } = scanSource(ports.rings.get(request.keyspace).ring, request);
      if (partitions.join() === source.partitions.join()) throw error;
    }
  }
}

/** Merges the pages of the partitions, a few at a time, and keeps the wanted keys. */
async function readSource(
  ports: CoordinatorPorts,
  request: ScanRequest,
  { partitions, bounds, isWanted }: ScanSource,
): Promise<ScanPage> {
  const [only, ...others] = partitions;
  const page = (partition: number): Promise<ScanPage> =>
    scanPartition(ports, { ...request, ...bounds, partition });
  if (only !== undefined && others.length === 0 && isWanted === null) return page(only);
  let merged: ScanPage = { rows: packPage([]), next: null };
  for (let start = 0; start < partitions.length; start += scanSourcesAtOnce) {
    const some = partitions.slice(start, start + scanSourcesAtOnce);
    const pages = await Promise.all(some.map(page));
    const { found, next } = mergePages([merged, ...pages], request);
    const rows = found.map(({ row }) => row);
    const wantedRows = isWanted === null ? rows : rows.filter(({ key }) => isWanted(key));
    merged = cutPage(wantedRows, { next, reverse: request.reverse });
  }
  return merged;
}

/** Reads each key in which slots differ by itself before it is shown, which also writes it back. */
async function scanPartition(ports: CoordinatorPorts, request: ScanRequest): Promise<ScanPage> {
  const nowMs = ports.clock.nowMs();
  const { reverse, keyspace } = request;
  const pages = await withNewestRing(ports, keyspace, (active) =>
    equalOrWhole(ports, active, { ...request, nowMs }),
  );
  const [first] = pages;
  if (pages.length === 1 && first !== undefined) {
    return first.gone === 0 ? first : { ...first, rows: withoutGone(first.rows, nowMs) };
  }
  const { found, next } = mergePages(pages, request);
  const rows = await mapConcurrent(found, differingKeysAtOnce, async ({ row, agreed }) =>
    agreed ? row : readAgain(ports, request, row),
  );
  return cutPage(rows.filter((row) => row !== null && !isDeletedAt(row, nowMs)) as PageRow[], {
    next,
    reverse,
  });
}

/** Returns one page if all asked slots have the same page, otherwise the page of each slot. */
async function equalOrWhole(
  ports: CoordinatorPorts,
  active: ActiveRing,
  request: ScanRequest & { readonly nowMs: number },
): Promise<readonly Page[]> {
  const { keyspace, partition, consistency, values, from, to, reverse, limit, nowMs } = request;
  const slots = slotsOf(active.ring, partition);
  if (slots.length === 0) {
    throw tooFewSlots({ acked: 0, possible: 0 }, { slots: 0, needed: 1, codes: new Map() });
  }
  const needed = slotsNeeded(consistency, slots.length);
  const target = { keyspace, ringVersion: active.ring.version, partition };
  const pageRequest = { ...target, from, to, reverse, limit, nowMs };
  const rows = values ? ('records' as const) : ('keys' as const);
  const ask = (device: number, isWhole: boolean) => {
    return ports.devices.call({ active, device }, pageRead, {
      ...pageRequest,
      give: isWhole ? rows : 'digest',
    });
  };
  const answers = await askSlots({
    active,
    slots,
    needed,
    ask: async (device, index) => {
      const isWhole = index === 0 || index >= needed;
      return { isWhole, page: await ask(device, isWhole) };
    },
  });
  const whole = answers.find(({ answer }) => answer.isWhole)?.answer.page;
  const isEqual = ({ digest, next }: Page): boolean =>
    digest === whole?.digest && isSamePlace(next, whole.next);
  if (whole !== undefined && answers.every(({ answer }) => isEqual(answer.page))) return [whole];
  const all = await askSlots({ active, slots, needed, ask: (device) => ask(device, true) });
  return all.map(({ answer }) => answer);
}

function isSamePlace(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === null || b === null ? a === b : Buffer.compare(a, b) === 0;
}

function withoutGone(rows: Uint8Array, nowMs: number): Uint8Array {
  return packPage(unpackPage(rows).filter((row) => !isDeletedAt(row, nowMs)));
}

async function readAgain(
  ports: CoordinatorPorts,
  { keyspace, partition, values, consistency }: ScanRequest,
  { key }: PageRow,
): Promise<PageRow | null> {
  const level = consistency === 'linearizable' ? 'quorum' : consistency;
  const record = await coordinateRead(ports, { keyspace, key, consistency: level });
  if (record === null) return null;
  const value = record.value === null || values ? record.value : new Uint8Array();
  return { partition, key, ...record, value };
}

interface MergedPage {
  /** The newest record of each key, and whether all slots have it; tombstones included. */
  readonly found: readonly { readonly row: PageRow; readonly agreed: boolean }[];
  readonly next: Uint8Array | null;
}

/**
 * Merges the pages of several slots. Every slot has listed all it has up to the nearest page end;
 * what lies behind that waits for the next page. Pure.
 */
export function mergePages(
  pages: readonly ScanPage[],
  { limit, reverse }: { readonly limit: number; readonly reverse: boolean },
): MergedPage {
  let next: Uint8Array | null = null;
  for (const page of pages) {
    const isNearer = next === null || comparePositions(page.next ?? next, next, reverse) < 0;
    if (page.next !== null && isNearer) next = page.next;
  }
  const merged = new Map<string, { row: PageRow; holders: number }>();
  for (const row of pages.flatMap(({ rows }) => unpackPage(rows))) {
    if (next !== null && !isWithin(row.key, next, reverse)) continue;
    const name = byteText(row.key);
    const known = merged.get(name);
    const order = known === undefined ? 1 : compareStamps(row, known.row);
    if (known !== undefined && order === 0) known.holders += 1;
    else if (order > 0) merged.set(name, { row, holders: 1 });
  }
  const found = [...merged.values()]
    .map(({ row, holders }) => ({ row, agreed: holders === pages.length }))
    .sort((a, b) => comparePositions(a.row.key, b.row.key, reverse));
  const last = found[limit - 1];
  if (found.length <= limit || last === undefined) return { found, next };
  return { found: found.slice(0, limit), next: positionAfterKey(last.row.key, reverse) };
}

/** Whether the scan gives the key before it reaches the position. */
function isWithin(key: Uint8Array, position: Uint8Array, reverse: boolean): boolean {
  const order = Buffer.compare(key, position);
  return reverse ? order >= 0 : order < 0;
}

/** Cuts the rows to the size of one page, because those of several slots together may be more. */
function cutPage(
  rows: readonly PageRow[],
  { next, reverse }: { readonly next: Uint8Array | null; readonly reverse: boolean },
): ScanPage {
  let bytes = 0;
  const end = rows.findIndex(({ key, value }) => {
    bytes += key.length + (value?.length ?? 0);
    return bytes >= listTurnBytesMax;
  });
  const last = rows[end];
  if (last === undefined || end === rows.length - 1) return { rows: packPage(rows), next };
  return { rows: packPage(rows.slice(0, end + 1)), next: positionAfterKey(last.key, reverse) };
}
