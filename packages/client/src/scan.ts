// A scan: the records of a keyspace in order, as an async iterable with a place to go on from.
import { CodedError } from '@ringwright/base/coded-error';
import { boundsFrom, type KeyBounds, placeBehind, withinPrefix } from '@ringwright/base/key-bounds';
import { clientScanHedgeMs, listKeysMax } from '@ringwright/base/limits';
import { formatStamp } from '@ringwright/base/stamp';
import {
  boundsAt,
  firstPlace,
  isOrdered,
  placeAfter,
  placeNow,
  placeOf,
  type ScanPlace,
  scannedOf,
} from '@ringwright/ring/partitioner/scan-order';
import type { ConsistencyLevel } from '@ringwright/wire/coordination';
import { coordinateScan, type PageRow, unpackPage } from '@ringwright/wire/listing';
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';
import { type CursorUse, readCursor, writeCursor } from '@ringwright/wire/scan-cursor';
import { boundBytes } from './bytes.ts';
import { checkOptions } from './check-options.ts';
import type { Bytes, ReadOptions } from './client.ts';
import { readFailure } from './failure-kind.ts';
import { hedgedRead } from './hedged-read.ts';
import type { RingFollower } from './ring-follower.ts';
import { type PartPages, pagesAhead } from './scan-pages.ts';

/** One record of a scan. */
export class ScannedRecord {
  readonly key: Uint8Array;
  /** Empty when the scan was asked for keys alone. */
  readonly value: Uint8Array;
  readonly #row: PageRow;

  constructor(row: PageRow) {
    this.key = row.key;
    this.value = row.value ?? new Uint8Array();
    this.#row = row;
  }

  /** As ClientRecord.stamp. Made when it is asked for: few scans need it, and it takes a while. */
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
  /** This partition alone; null: all. */
  readonly only: number | null;
  readonly values: boolean;
  readonly consistency: ConsistencyLevel;
  /** As Scan.cursor gave it; null: from the first. */
  readonly cursor: string | null;
  readonly timeoutMs: number;
}

interface Page {
  readonly rows: readonly PageRow[];
  /** What they are read from: its start. */
  readonly place: ScanPlace;
}

/** What a scan works with. */
interface ScanPorts {
  readonly follower: RingFollower;
  /** True when no other server need be asked any more. */
  readonly isClosed: () => boolean;
}

/**
 * Every record that is there from the first step to the last is given exactly once; one that comes
 * or goes meanwhile may be given or not. Keys come in the order of their bytes: over the whole
 * keyspace where its partitions are ranges, else inside each partition.
 */
export class Scan implements AsyncIterable<ScannedRecord> {
  readonly #ports: ScanPorts;
  readonly #settings: ScanSettings;
  readonly #start: ScanPlace | null;
  /** Behind the last record there is: a scan that has reached its limit need not be. */
  #isOver = false;
  #given: { readonly key: Uint8Array; readonly place: ScanPlace } | null = null;

  /** Throws VALUE_OUT_OF_RANGE, CURSOR_INVALID. */
  constructor(ports: ScanPorts, settings: ScanSettings) {
    this.#ports = ports;
    this.#settings = settings;
    checkPartition(settings, ports.follower.ring.partitions);
    this.#start = settings.cursor === null ? null : readCursor(settings.cursor, this.#use());
  }

  /**
   * The place behind the record that was given last: another scan of any client, or of HTTP, goes
   * on from there, after any time. Null when all are given, as over HTTP: `do { … } while (cursor)`
   * ends. Before the first record it is the cursor from which the scan began, or null.
   */
  get cursor(): string | null {
    if (this.#isOver) return null;
    if (this.#given === null) return this.#settings.cursor;
    const { place, key } = this.#given;
    const at = placeBehind(key, this.#settings.reverse);
    return writeCursor({ ...place, at }, this.#use());
  }

  /** Throws CURSOR_INVALID for a cursor of an older program that cannot be followed any more. */
  async *[Symbol.asyncIterator](): AsyncGenerator<ScannedRecord, void> {
    let left = this.#settings.limit;
    this.#isOver = false;
    for await (const { rows, place } of pagesAhead(this.#parts())) {
      for (const row of rows) {
        if (left === 0) return;
        left -= 1;
        this.#given = { key: row.key, place };
        yield new ScannedRecord(row);
      }
    }
    this.#isOver = left > 0;
  }

  #use(): CursorUse {
    const { keyspace, reverse } = this.#settings;
    return { keyspace, reverse, ordered: isOrdered(this.#ports.follower.ring.partitioner) };
  }

  *#parts(): Generator<PartPages<Page>> {
    const { prefix } = this.#settings;
    const bounds = withinPrefix(this.#settings, prefix);
    const { ring } = this.#ports.follower;
    const scanned = scannedOf(ring, { bounds, prefix });
    const [start, { only }] = [this.#start, this.#settings];
    const first = only === null ? firstPlace(scanned) : placeOf(scanned, only);
    let place = start === null ? first : placeNow(scanned, ring, start);
    while (place !== null) {
      yield this.#pagesOf(place, boundsAt(scanned, place));
      place = only === null ? placeAfter(scanned, place) : null;
    }
  }

  async *#pagesOf(place: ScanPlace, bounds: KeyBounds): PartPages<Page> {
    const { keyspace, prefix, values, consistency, limit } = this.#settings;
    const { partition, arc = null } = place;
    const about = { keyspace, partition, arc, prefix, values, consistency };
    let left = limit;
    let rest = bounds;
    for (;;) {
      const { rows, next } = await askForPage(this.#ports, this.#settings, {
        ...about,
        ...rest,
        limit: Math.max(1, Math.min(left, listKeysMax)),
      });
      const found = unpackPage(rows);
      yield { rows: found, place };
      left -= found.length;
      if (next === null || left <= 0) return;
      rest = boundsFrom(bounds, next);
    }
  }
}

function checkPartition({ only, keyspace }: ScanSettings, partitions: number): void {
  if (only === null || (Number.isInteger(only) && only >= 0 && only < partitions)) return;
  const message = `partition ${only} of ${keyspace} is not in 0 to ${partitions - 1}`;
  throw new CodedError('VALUE_OUT_OF_RANGE', message, { details: { partition: only } });
}

function askForPage(
  { follower, isClosed }: ScanPorts,
  { timeoutMs }: ScanSettings,
  request: RequestOf<typeof coordinateScan>,
): Promise<AnswerOf<typeof coordinateScan>> {
  return hedgedRead({
    addresses: follower.choose(request.partition),
    ask: async (address) => {
      const channel = await follower.open(address);
      const answer = await channel.call(coordinateScan, request, timeoutMs);
      follower.heard(answer.ringVersion, channel);
      return answer;
    },
    hedgeMs: clientScanHedgeMs,
    onSlow: (address) => follower.avoid(address),
    mayHelp: (error) => !isClosed() && readFailure(error) === 'elsewhere',
  });
}

export interface ScanOptions extends ReadOptions {
  /** Keys that begin with it; default: all. */
  readonly prefix?: Bytes;
  /** The lowest key; default: the first. */
  readonly from?: Bytes;
  /** Keys below this one; default: up to the last. */
  readonly to?: Bytes;
  /** From the highest key to the lowest; default: false. */
  readonly reverse?: boolean;
  /** The most records that are given; default: all. */
  readonly limit?: number;
  /** False: values come empty, which saves their transfer; default: true. */
  readonly values?: boolean;
  /** This partition alone, as the ring has it when the scan begins; default: all. */
  readonly partition?: number;
  /** Where an earlier scan of the same interval ended: Scan.cursor. */
  readonly cursor?: string | null;
}

/** Before anything travels. Throws USAGE, KEY_INVALID, VALUE_OUT_OF_RANGE. */
export function scanSettings(
  options: ScanOptions,
): Omit<ScanSettings, 'keyspace' | 'timeoutMs' | 'consistency'> {
  checkOptions('scan', options);
  const { limit = Number.POSITIVE_INFINITY, reverse = false, values = true } = options;
  if (!(limit >= 0) || (limit !== Number.POSITIVE_INFINITY && !Number.isInteger(limit))) {
    const message = `a limit of ${limit} records is no whole number from 0 on`;
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
