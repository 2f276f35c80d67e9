// What a scan is asked for, checked before anything travels. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { keyBytes } from './bytes.ts';
import type { Bytes, ReadOptions } from './client.ts';
import type { ScanSettings } from './scan.ts';

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

/** Throws KEY_INVALID, VALUE_OUT_OF_RANGE. */
export function scanSettings(
  options: ScanOptions,
): Omit<ScanSettings, 'keyspace' | 'timeoutMs' | 'consistency'> {
  const { limit = Number.POSITIVE_INFINITY, reverse = false, values = true } = options;
  if (!(limit >= 0)) {
    const message = `a limit of ${limit} records is no number from 0 on`;
    throw new CodedError('VALUE_OUT_OF_RANGE', message, { details: { limit } });
  }
  return {
    prefix: boundOf(options.prefix),
    from: boundOf(options.from),
    to: options.to === undefined ? null : boundOf(options.to),
    ...{ reverse, limit, values },
    only: options.partition ?? null,
    cursor: options.cursor ?? null,
  };
}

/** A bound may be empty, which no key is. */
function boundOf(bound: Bytes = ''): Uint8Array {
  return bound.length === 0 ? new Uint8Array() : keyBytes(bound);
}
