// Copy of a whole partition file: the joiner opens a snapshot at the source and reads it in chunks.
// Pure.
import { z } from 'zod';
import {
  assignmentField,
  chunkField,
  countField,
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
  request: z.strictObject({ ...partitionFields, assignment: z.nullable(assignmentField) }),
  answer: z.strictObject({
    copy: copyIdField,
    sourceIncarnation: incarnationField,
    seq: sequenceField,
    bytes: countField,
    sha256: sha256Field,
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

export const copyClose = messageKind({
  method: 'copy-close',
  request: z.strictObject({ copy: copyIdField }),
  answer: z.strictObject({}),
});
