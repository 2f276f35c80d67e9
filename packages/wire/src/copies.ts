// Copy of a partition file: the joiner opens a snapshot at the source, and reads chunks. Pure.
import { copyRateMin } from '@ringwright/base/limits-copies';
import { z } from 'zod';
import {
  assignmentField,
  chunkField,
  countField,
  deviceIdField,
  digestField,
  incarnationField,
  keyedChecksumField,
  partitionFields,
  sequenceField,
} from './fields.ts';
import { messageKind } from './message.ts';

const copyIdField = z.string().min(1).max(64);

export const copyOpen = messageKind({
  method: 'copy-open',
  request: z.strictObject({
    ...partitionFields,
    assignment: z.nullable(assignmentField),
    /** Who asks: the source limits what it gives by server and zone. */
    device: deviceIdField,
  }),
  answer: z.strictObject({
    copy: copyIdField,
    sourceIncarnation: incarnationField,
    seq: sequenceField,
    bytes: countField,
    seal: keyedChecksumField,
    rows: countField,
    tombstones: countField,
    digest: digestField,
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
