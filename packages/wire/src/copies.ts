// Copy of a partition file: the joiner's process fetches it from the source's, or the joiner reads
// chunks of a snapshot. Pure.
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
  /** Who asks: the source limits what it gives by server and zone. */
  device: deviceIdField,
});

const descriptionFields = {
  sourceIncarnation: incarnationField,
  seq: sequenceField,
  rows: countField,
  tombstones: countField,
  digest: digestField,
};

/** Where the joiner's process connects to, at the source's address, and what lets it in, once. */
const doorFields = {
  port: z.int().min(1).max(65_535),
  ticket: hex(64),
  /** What comes is encrypted under it; null, from older servers: it is not. */
  cipherKey: z.nullable(hex(32)),
};

/** USAGE: no process gives copies there. */
export const copyStart = messageKind({
  method: 'copy-start',
  request: z.strictObject({
    ...copyRequest.shape,
    /** It makes the file of a small partition itself, out of the records. */
    takesPacked: z.nullable(z.boolean()),
  }),
  answer: z.union([
    z.strictObject({
      copy: copyIdField,
      ...descriptionFields,
      bytes: countField,
      /** Of the bytes, the last ones: they are the file's WAL. */
      walBytes: countField,
      /** Of the checksum: the bytes themselves come over a connection that nobody vouches for. */
      key: hex(32),
      ...doorFields,
    }),
    z.strictObject({
      ...descriptionFields,
      barrierMs: msField,
      floorMs: msField,
      /** As the commit log has them, each behind its length in four bytes. */
      records: bytesField('records', 0, packedPartitionBytesMax),
      /** Whether `promises` would give any. */
      hasPromises: z.boolean(),
    }),
  ]),
});

/** After a cut, from this byte on. */
export const copyGoOn = messageKind({
  method: 'copy-go-on',
  request: z.strictObject({ copy: copyIdField, offset: countField }),
  answer: z.strictObject(doorFields),
});

/** When all bytes have come; the copy is released. COPY_BUSY: the file was written meanwhile. */
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
 * How fast the receiver may give and take copies, for this life of its process; as a loan: instead
 * of that for copyLoanMs, unless it is said again.
 */
export const copyRate = messageKind({
  method: 'copy-rate',
  request: z.strictObject({
    /** In each direction; null: what the server was started with, or the end of the loan. */
    bytesPerSecond: z.nullable(z.int().min(copyRateMin)),
    /** Made up by who lends; null: this is the server's own rate, which overrules loans. */
    loan: z.nullable(z.string().min(1).max(64)),
  }),
  answer: z.strictObject({
    /** What is allowed now; null: no limit. */
    allowed: z.nullable(z.number().min(0)),
    /** What is in force: less while requests suffer. */
    inForce: z.nullable(z.number().min(0)),
  }),
});

export const copyClose = messageKind({
  method: 'copy-close',
  request: z.strictObject({ copy: copyIdField }),
  answer: z.strictObject({}),
});
