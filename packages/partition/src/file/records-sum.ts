// What the records of an interval of keys come to, without reading their values.
import { must } from '@ringwright/base/assert';
import type { KeyBounds } from '@ringwright/base/key-bounds';
import type { PartitionFile } from './partition-file.ts';
import { statements } from './partition-statements.ts';
import { ABOVE_ALL_KEYS } from './read-records.ts';

export interface SumBounds extends KeyBounds {
  readonly limit: number;
  /** What has expired by then is gone. */
  readonly nowMs: number;
}

export interface RecordsSum {
  readonly count: number;
  /** Of keys and values. */
  readonly bytes: number;
  /** How many are deleted, or have expired. */
  readonly gone: number;
  /** The key that scanRecords gives last; null: there is none. */
  readonly last: Buffer | null;
  /** Row hashes in the order of scanRecords, one behind the other. */
  readonly hashes: Buffer;
}

/** Of what scanRecords gives. The hashes are those that were stored: no value is compared with its. */
export function sumRecords(file: PartitionFile, bounds: SumBounds): RecordsSum {
  const { from, to, reverse, limit, nowMs } = bounds;
  const statement = file.sql.of(reverse ? statements.sumDown : statements.sumUp);
  const row = statement.get(nowMs, from, to ?? ABOVE_ALL_KEYS, limit);
  const [count, bytes, gone, lowest, highest, hashes] = must(row, 'a sum has one row');
  const last = reverse ? lowest : highest;
  return { count, bytes: bytes ?? 0, gone: gone ?? 0, last, hashes: hashes ?? NOTHING };
}

const NOTHING = Buffer.alloc(0);
