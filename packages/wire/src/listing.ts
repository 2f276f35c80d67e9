// Keys and records of a partition in key order: between servers, and for clients. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { positionBytesMax } from '@ringwright/base/key-bounds';
import { keyBytesMax, listKeysMax, scanPageBytesMax } from '@ringwright/base/limits';
import { z } from 'zod';
import { consistencyField } from './coordination.ts';
import {
  afterField,
  bytesField,
  countField,
  digestField,
  keyField,
  keyspaceField,
  msField,
  partitionField,
  partitionFields,
  tieField,
  versionField,
} from './fields.ts';
import { messageKind } from './message.ts';
import { type BatchedWrite, packWrites, unpackWrites } from './packed-writes.ts';

const listedKey = z.tuple([keyField, msField, tieField, z.boolean().meta({ means: 'deleted' })]);

/** Keys that a device that catches up compares with its own file. */
export const keysAfter = messageKind({
  method: 'keys-after',
  request: z.strictObject({
    ...partitionFields,
    after: afterField,
    limit: z.int().min(1).max(listKeysMax),
    /** Records that have expired by then are reported as deleted. */
    nowMs: msField,
  }),
  answer: z.strictObject({ keys: z.array(listedKey).max(listKeysMax), more: z.boolean() }),
});

const placeField = bytesField('place', 0, positionBytesMax);
const boundFields = {
  from: placeField,
  to: z.nullable(placeField),
  reverse: z.boolean(),
  limit: z.int().min(1).max(listKeysMax),
};
const hashField = z.int().min(0).max(0xffff_ffff);
/** In the format of packPage. */
const rowsField = bytesField('rows', 0, scanPageBytesMax);

/** A page of a partition as one device has it, tombstones included. */
export const pageRead = messageKind({
  method: 'page-read',
  request: z.strictObject({
    ...partitionFields,
    ...boundFields,
    /** With `keys` the values are empty. With `digest` there are no rows at all. */
    give: z.enum(['records', 'keys', 'digest']),
    nowMs: msField,
  }),
  answer: z.strictObject({
    rows: rowsField,
    /** Number of records that are deleted or expired. */
    gone: countField,
    /** Digest of all records of the page with their values: equal digests mean equal pages. */
    digest: digestField,
    /** Where the next page begins; null: the end of the interval. */
    next: z.nullable(placeField),
  }),
});

/** A page of a partition for a client; the receiving server coordinates it. */
export const coordinateScan = messageKind({
  method: 'coordinate-scan',
  request: z.strictObject({
    keyspace: keyspaceField,
    partition: partitionField,
    ...boundFields,
    /** Only keys that begin with it are returned: the token's permission may depend on it. */
    prefix: bytesField('prefix', 0, keyBytesMax),
    values: z.boolean(),
    consistency: consistencyField,
    /**
     * An arc of the circle of hashes: restricts the page to its keys, whatever partition has them
     * now.
     */
    arc: z.nullable(z.strictObject({ start: hashField, end: hashField })),
  }),
  answer: z.strictObject({
    rows: rowsField,
    next: z.nullable(placeField),
    ringVersion: versionField,
  }),
});

/** A record of a page. */
export type PageRow = Omit<BatchedWrite, 'repair'>;

export function packPage(rows: readonly PageRow[]): Uint8Array {
  return packWrites(rows);
}

/** Returns views of `bytes`. Throws PEER_FAILED if they are not whole rows. */
export function unpackPage(bytes: Uint8Array): PageRow[] {
  const rows = bytes.length === 0 ? [] : unpackWrites(bytes);
  if (rows === null) throw new CodedError('PEER_FAILED', 'a page has an incomplete record');
  return rows;
}
