// A scan: the records of a keyspace in order, as an async iterable with a cursor to resume from.
import { CodedError } from '@ringwright/base/coded-error';
import {
  boundsFrom,
  type KeyBounds,
  positionAfterKey,
  withinPrefix,
} from '@ringwright/base/key-bounds';
import { clientScanHedgeMs, listKeysMax } from '@ringwright/base/limits';
import { printable } from '@ringwright/base/printable';
import { formatStamp } from '@ringwright/base/stamp';
import { isLive } from '@ringwright/ring/partitioner/live-ids';
import {
  boundsAt,
  isOrdered,
  isPositionIn,
  nextPosition,
  type ScanPosition,
  scannedOf,
  startOfScan,
} from '@ringwright/ring/partitioner/scan-order';
import type { ConsistencyLevel } from '@ringwright/wire/coordination';
import { coordinateScan, type PageRow, unpackPage } from '@ringwright/wire/listing';
import { type CursorUse, readCursor, writeCursor } from '@ringwright/wire/scan-cursor';
import { boundBytes } from './bytes.ts';
import { checkOptions } from './check-options.ts';
import type { ScanOptions } from './options.ts';
import type { RingFollower } from './ring-follower.ts';
import { type PartPages, pagesAhead } from './scan-pages.ts';

/** One record of a scan. */
export class ScannedRecord {
  readonly key: Uint8Array;
  /** Empty if the scan returns keys only. */
  readonly value: Uint8Array;
  readonly #row: PageRow;

  constructor(row: PageRow) {
    this.key = row.key;
    this.value = row.value ?? new Uint8Array();
    this.#row = row;
  }

  /** Like ClientRecord.stamp. Formatted on demand: few scans need it, and formatting takes time. */
  get stamp(): string {
    return formatStamp(this.#row.origin ?? this.#row);
  }

  /** Unix ms at which it expires; null: never. */
  get expiresMs(): number | null {
    return this.#row.expiresMs ?? null;
  }
}

interface ScanSettings extends KeyBounds {
  readonly keyspace: string;
  readonly prefix: Uint8Array;
  readonly limit: number;
  /** Restricts the scan to this partition; null: all. */
  readonly only: number | null;
  readonly values: boolean;
  readonly consistency: ConsistencyLevel;
  /** A Scan.cursor to resume from; null: from the beginning. */
  readonly cursor: string | null;
}

interface Page {
  readonly rows: readonly PageRow[];
  /** The start of the part that the rows come from. */
  readonly position: ScanPosition;
}

/**
 * Every record that exists from the first step to the last is returned exactly once; a record that
 * is added or removed meanwhile may be missing or not. Keys come in byte order: over the whole
 * keyspace if its partitions are ranges, else within each partition.
 */
export class Scan implements AsyncIterable<ScannedRecord> {
  readonly #follower: RingFollower;
  readonly #settings: ScanSettings;
  readonly #start: ScanPosition | null;
  /** Whether the scan has passed the last record; a scan that reached its limit may not have. */
  #isOver = false;
  #lastReturned: { readonly key: Uint8Array; readonly position: ScanPosition } | null = null;

  /** Throws VALUE_OUT_OF_RANGE, CURSOR_INVALID. */
  constructor(follower: RingFollower, settings: ScanSettings) {
    this.#follower = follower;
    this.#settings = settings;
    checkPartition(settings, follower.ring);
    const { cursor, only } = settings;
    this.#start = cursor === null ? null : readCursor(cursor, this.#cursorUse());
    const { partitioner } = follower.ring;
    if (this.#start === null || only === null) return;
    if (!isPositionIn(partitioner, only, this.#start)) throw cursorOfOther(settings);
  }

  /**
   * The position after the last record returned: another scan, of any client or over HTTP, can
   * resume there at any later time. Null when all records were returned, as over HTTP, so that `do
   * { … } while (cursor)` ends. Before the first record it is the cursor that the scan began with,
   * or null.
   */
  get cursor(): string | null {
    if (this.#isOver) return null;
    if (this.#lastReturned === null) return this.#settings.cursor;
    const { position, key } = this.#lastReturned;
    const at = positionAfterKey(key, this.#settings.reverse);
    return writeCursor({ ...position, at }, this.#cursorUse());
  }

  /** Throws CURSOR_INVALID for a cursor of an older release that can no longer be followed. */
  async *[Symbol.asyncIterator](): AsyncGenerator<ScannedRecord, void> {
    let left = this.#settings.limit;
    this.#isOver = false;
    for await (const { rows, position } of pagesAhead(this.#parts())) {
      for (const row of rows) {
        if (left === 0) return;
        left -= 1;
        this.#lastReturned = { key: row.key, position };
        yield new ScannedRecord(row);
      }
    }
    this.#isOver = left > 0;
  }

  #cursorUse(): CursorUse {
    const { keyspace, reverse } = this.#settings;
    return { keyspace, reverse, ordered: isOrdered(this.#follower.ring.partitioner) };
  }

  *#parts(): Generator<PartPages<Page>> {
    const { prefix } = this.#settings;
    const bounds = withinPrefix(this.#settings, prefix);
    const { ring } = this.#follower;
    const scanned = scannedOf(ring, { bounds, prefix });
    const [start, { only }] = [this.#start, this.#settings];
    let position = startOfScan(scanned, ring, { only, position: start });
    while (position !== null) {
      yield this.#pagesOf(position, boundsAt(scanned, position));
      position = only === null ? nextPosition(scanned, position) : null;
    }
  }

  async *#pagesOf(position: ScanPosition, bounds: KeyBounds): PartPages<Page> {
    const { keyspace, prefix, values, consistency, limit } = this.#settings;
    const { partition, arc = null } = position;
    const fields = { keyspace, partition, arc, prefix, values, consistency };
    let left = limit;
    let rest = bounds;
    for (;;) {
      const request = { ...fields, ...rest, limit: Math.max(1, Math.min(left, listKeysMax)) };
      const { rows, next } = await this.#follower.ask(
        { partition, hedgeMs: clientScanHedgeMs },
        (channel, timeoutMs) => channel.call(coordinateScan, request, timeoutMs),
      );
      const unpacked = unpackPage(rows);
      yield { rows: unpacked, position };
      left -= unpacked.length;
      if (next === null || left <= 0) return;
      rest = boundsFrom(bounds, next);
    }
  }
}

/**
 * A former partition has no end of its own any more: its scan would return keys of others. Where
 * keys are hashed, the cursor of an earlier scan still says where that partition ended.
 */
function checkPartition(
  { only, keyspace, cursor }: ScanSettings,
  { partitions, partitioner }: RingFollower['ring'],
): void {
  if (only === null) return;
  const details = { partition: only };
  if (!Number.isInteger(only) || only < 0 || only >= partitions) {
    const message = `partition ${only} of ${keyspace} is not in 0 to ${partitions - 1}`;
    throw new CodedError('VALUE_OUT_OF_RANGE', message, { details });
  }
  if (isLive(partitioner, only) || (cursor !== null && !isOrdered(partitioner))) return;
  const message = `${keyspace} has no partition ${only} at present`;
  const hint = 'partitions were split or merged: ring-builder table RING lists those there are';
  throw new CodedError('VALUE_OUT_OF_RANGE', message, { hint, details });
}

function cursorOfOther({ keyspace, only, cursor }: ScanSettings): CodedError {
  const which = `cursor '${printable(cursor ?? '')}'`;
  const message = `${which} is not from a scan of partition ${only} of ${keyspace}`;
  return new CodedError('CURSOR_INVALID', message, {
    hint: 'pass the cursor of a scan with the same options, or none to start over',
    details: { cursor, keyspace, partition: only },
  });
}

/** Validates the options before anything is sent. Throws USAGE, KEY_INVALID, VALUE_OUT_OF_RANGE. */
export function scanSettings(options: ScanOptions): Omit<ScanSettings, 'keyspace' | 'consistency'> {
  checkOptions('scan', options);
  const { limit = Number.POSITIVE_INFINITY, reverse = false, values = true } = options;
  if (!(limit >= 0) || (limit !== Number.POSITIVE_INFINITY && !Number.isInteger(limit))) {
    const message = `a limit of ${limit} records is not a whole number from 0 up`;
    throw new CodedError('VALUE_OUT_OF_RANGE', message, { details: { limit } });
  }
  return {
    prefix: boundBytes(options.prefix),
    from: boundBytes(options.from),
    to: options.to === undefined ? null : boundBytes(options.to),
    ...{ reverse, limit, values },
    only: options.partition ?? null,
    cursor: options.cursor ?? null,
  };
}
