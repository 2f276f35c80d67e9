// Ring files on the wire: offered and pushed in chunks, or fetched. Rings are immutable, so any
// peer may relay. Pure.
import {
  ringDeltaBytesMax,
  ringFileBytesMax,
  ringSignatureCountMax,
} from '@ringwright/base/limits';
import { forkReasonCharactersMax } from '@ringwright/base/limits-rings';
import { z } from 'zod';
import { chunkField, keyspaceField, ringIdField, versionField } from './fields.ts';
import { ringHeadSchema } from './hello.ts';
import { messageKind } from './message.ts';

const fileBytesField = z.int().min(1).max(ringFileBytesMax);
const offsetField = z.int().min(0).max(ringFileBytesMax);

/** "I have this ring": answered with whether its bytes are wanted. Refusals are errors. */
export const ringOffer = messageKind({
  method: 'ring-offer',
  request: z.strictObject({
    keyspace: keyspaceField,
    version: versionField,
    id: ringIdField,
    bytes: fileBytesField,
    /** Signatures in the file: a server wants its own ring again with more of them. */
    signers: z.int().min(0).max(ringSignatureCountMax),
  }),
  answer: z.strictObject({ wanted: z.boolean(), active: z.nullable(ringHeadSchema) }),
});

/**
 * After an offer: the chunks that follow are a delta of so many bytes between ring `base`, which
 * must be active, and the one that was offered. Refused deltas end the upload.
 */
export const ringDelta = messageKind({
  method: 'ring-delta',
  request: z.strictObject({
    id: ringIdField,
    base: ringIdField,
    bytes: z.int().min(1).max(ringDeltaBytesMax),
  }),
  answer: z.strictObject({}),
});

/** The next bytes of an offered ring or its delta, in order. The last chunk is answered after activation. */
export const ringChunk = messageKind({
  method: 'ring-chunk',
  request: z.strictObject({ id: ringIdField, offset: offsetField, data: chunkField }),
  answer: z.strictObject({ active: z.nullable(ringHeadSchema) }),
});

/**
 * The operator's word after a fork: of the rings that exist for these versions, this one is right.
 * Throws RING_FORK_UNKNOWN when the server has seen no fork.
 */
export const ringSettle = messageKind({
  method: 'ring-settle',
  request: z.strictObject({
    ...ringHeadSchema.shape,
    reason: z.string().min(1).max(forkReasonCharactersMax),
  }),
  answer: z.strictObject({}),
});

/**
 * Bytes of the active ring of a keyspace, from an offset; of a delta to it when the ring `base`,
 * which the asking end has, is known here too.
 */
export const ringFetch = messageKind({
  method: 'ring-fetch',
  request: z.strictObject({
    keyspace: keyspaceField,
    id: z.nullable(ringIdField),
    base: z.nullable(ringHeadSchema),
    offset: offsetField,
  }),
  answer: z.strictObject({
    version: versionField,
    id: ringIdField,
    /** Length of what is being read: the file, or the delta. */
    bytes: fileBytesField,
    isDelta: z.boolean(),
    data: chunkField,
  }),
});
