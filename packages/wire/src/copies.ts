// Copy of a whole partition file: the joiner opens a snapshot at the source and reads it in chunks.
// Pure.
import { copyRateMin } from '@ringwright/base/limits-copies';
import { z } from 'zod';
import {
  assignmentField,
  chunkField,
  countField,
  deviceIdField,
  digestField,
  incarnationField,
  partitionFields,
  sequenceField,
  sha256Field,
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
    /** Null for a long file: it is hashed while it is sent, and copy-seal tells. */
    sha256: z.nullable(sha256Field),
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

/** The hash of the whole file, when all of it has been read. */
export const copySeal = messageKind({
  method: 'copy-seal',
  request: z.strictObject({ copy: copyIdField }),
  answer: z.strictObject({ sha256: sha256Field }),
});

/** How fast the receiver may give and take copies, for this life of its process. */
export const copyRate = messageKind({
  method: 'copy-rate',
  request: z.strictObject({
    /** In each direction; null: what the server was started with. */
    bytesPerSecond: z.nullable(z.int().min(copyRateMin)),
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
