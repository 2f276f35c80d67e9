// Copies of a partition file: the joiner's carrier fetches the file from the source's carrier, or
// the joiner reads chunks of a snapshot. Pure.
import { copyRateMin, packedPartitionBytesMax } from '@ringwright/base/limits-copies';
import { z } from 'zod';
import {
  assignmentField,
  bytesField,
  chunkField,
  countField,
  deviceIdField,
  digestField,
  incarnationField,
  keyedChecksumField,
  msField,
  partitionFields,
  sequenceField,
} from './fields.ts';
import { messageKind } from './message.ts';

const copyIdField = z.string().min(1).max(64);

const hex = (digits: number) => z.string().regex(new RegExp(`^[0-9a-f]{${digits}}$`));

const copyRequest = z.strictObject({
  ...partitionFields,
  assignment: z.nullable(assignmentField),
  /** The joiner: the source limits what it gives per server and zone. */
  device: deviceIdField,
});

const descriptionFields = {
  sourceIncarnation: incarnationField,
  seq: sequenceField,
  rows: countField,
  tombstones: countField,
  digest: digestField,
};

/** The port of the source's carrier, at the source's address, and a ticket valid once. */
const endpointFields = {
  port: z.int().min(1).max(65_535),
  ticket: hex(64),
  /** Key that encrypts the bytes; null, from older servers: not encrypted. */
  cipherKey: z.nullable(hex(32)),
};

/** USAGE: the source has no carrier. */
export const copyStart = messageKind({
  method: 'copy-start',
  request: z.strictObject({
    ...copyRequest.shape,
    /** The joiner can build the file of a small partition from its records. */
    takesPacked: z.nullable(z.boolean()),
  }),
  answer: z.union([
    z.strictObject({
      copy: copyIdField,
      ...descriptionFields,
      bytes: countField,
      /** How many of the bytes, at the end, are the file's WAL. */
      walBytes: countField,
      /** Key of the checksum: the bytes themselves arrive over an unauthenticated connection. */
      key: hex(32),
      ...endpointFields,
    }),
    z.strictObject({
      ...descriptionFields,
      barrierMs: msField,
      floorMs: msField,
      /** Records as in the commit log, each after its length in four bytes. */
      records: bytesField('records', 0, packedPartitionBytesMax),
      /** Whether `promises` would return any. */
      hasPromises: z.boolean(),
    }),
  ]),
});

/** Resumes a copy at this byte after its connection broke. */
export const copyGoOn = messageKind({
  method: 'copy-go-on',
  request: z.strictObject({ copy: copyIdField, offset: countField }),
  answer: z.strictObject(endpointFields),
});

/** Called when all bytes have arrived; releases the copy. COPY_BUSY: the file has been written. */
export const copyChecksum = messageKind({
  method: 'copy-checksum',
  request: z.strictObject({ copy: copyIdField }),
  answer: z.strictObject({ checksum: keyedChecksumField }),
});

export const copyOpen = messageKind({
  method: 'copy-open',
  request: copyRequest,
  answer: z.strictObject({
    copy: copyIdField,
    ...descriptionFields,
    bytes: countField,
    seal: keyedChecksumField,
  }),
});

export const copyRead = messageKind({
  method: 'copy-read',
  request: z.strictObject({ copy: copyIdField, offset: countField, length: countField }),
  answer: z.strictObject({ data: chunkField }),
});

/**
 * Sets how fast the receiver may give and take copies until its process ends. A loan replaces that
 * rate for copyLoanMs, unless it is renewed.
 */
export const copyRate = messageKind({
  method: 'copy-rate',
  request: z.strictObject({
    /** In each direction; null: the rate from the server's start, or the end of the loan. */
    bytesPerSecond: z.nullable(z.int().min(copyRateMin)),
    /** Id chosen by the lender; null: sets the server's own rate, which overrules loans. */
    loan: z.nullable(z.string().min(1).max(64)),
  }),
  answer: z.strictObject({
    /** The allowed rate; null: no limit. */
    allowed: z.nullable(z.number().min(0)),
    /** The rate in effect: lower while requests suffer. */
    inForce: z.nullable(z.number().min(0)),
  }),
});

export const copyClose = messageKind({
  method: 'copy-close',
  request: z.strictObject({ copy: copyIdField }),
  answer: z.strictObject({}),
});
