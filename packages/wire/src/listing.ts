// Keys and records of a partition in key order: between servers, and for clients. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { placeBytesMax } from '@ringwright/base/key-bounds';
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

/** What a device that catches up compares with its own file. */
export const keysAfter = messageKind({
  method: 'keys-after',
  request: z.strictObject({
    ...partitionFields,
    after: afterField,
    limit: z.int().min(1).max(listKeysMax),
    /** What has expired by then is told as deleted. */
    nowMs: msField,
  }),
  answer: z.strictObject({ keys: z.array(listedKey).max(listKeysMax), more: z.boolean() }),
});

const placeField = bytesField('place', 0, placeBytesMax);
const boundFields = {
  from: placeField,
  to: z.nullable(placeField),
  reverse: z.boolean(),
  limit: z.int().min(1).max(listKeysMax),
};
const hashField = z.int().min(0).max(0xffff_ffff);
/** As packPage makes them. */
const rowsField = bytesField('rows', 0, scanPageBytesMax);

/** A page of a partition as one device has it, tombstones included. */
export const pageRead = messageKind({
  method: 'page-read',
  request: z.strictObject({
    ...partitionFields,
    ...boundFields,
    /** Of records without values, these are empty. Without rows there is the digest alone. */
    give: z.enum(['records', 'keys', 'digest']),
    nowMs: msField,
  }),
  answer: z.strictObject({
    rows: rowsField,
    /** How many are deleted, or have expired by then. */
    gone: countField,
    /** Of all records of the page, with their values: equal ones mean equal pages. */
    digest: digestField,
    /** Where the next page begins; null: the interval is done. */
    next: z.nullable(placeField),
  }),
});

/** A page of a partition for a client: the server that is asked coordinates it. */
export const coordinateScan = messageKind({
  method: 'coordinate-scan',
  request: z.strictObject({
    keyspace: keyspaceField,
    partition: partitionField,
    ...boundFields,
    /** Keys with another beginning are not given: what a token allows may depend on it. */
    prefix: bytesField('prefix', 0, keyBytesMax),
    values: z.boolean(),
    consistency: consistencyField,
    /** Of hashes on a circle: these keys alone, whatever partitions have them now. */
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

/** Views of `bytes`. Throws PEER_FAILED where they are no rows. */
export function unpackPage(bytes: Uint8Array): PageRow[] {
  const rows = bytes.length === 0 ? [] : unpackWrites(bytes);
  if (rows === null) throw new CodedError('PEER_FAILED', 'a page does not hold whole records');
  return rows;
}
