// Ring files on the wire: offered and pushed in chunks, or fetched. Rings are immutable, so any
// peer may relay them. Pure.
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

/** "I have this ring": the answer says whether its bytes are wanted. Refusals are errors. */
export const ringOffer = messageKind({
  method: 'ring-offer',
  request: z.strictObject({
    keyspace: keyspaceField,
    version: versionField,
    id: ringIdField,
    bytes: fileBytesField,
    /** Signatures in the file: a server wants its own ring again if it has more of them. */
    signers: z.int().min(0).max(ringSignatureCountMax),
  }),
  answer: z.strictObject({ wanted: z.boolean(), active: z.nullable(ringHeadSchema) }),
});

/**
 * After an offer: the chunks that follow are a delta of this many bytes from ring `base`, which
 * must be active, to the offered ring. A refused delta ends the upload.
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

/**
 * The next bytes of an offered ring or its delta, in order. The last chunk is answered after the
 * activation.
 */
export const ringChunk = messageKind({
  method: 'ring-chunk',
  request: z.strictObject({ id: ringIdField, offset: offsetField, data: chunkField }),
  answer: z.strictObject({ active: z.nullable(ringHeadSchema) }),
});

/**
 * The operator's decision after a fork: of the rings that exist for these versions, this one is
 * right. Throws RING_FORK_UNKNOWN when the server has seen no fork.
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
 * Bytes of the active ring of a keyspace, from an offset; or of a delta to it, if the receiver also
 * knows ring `base`, which the caller has.
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
    /** Length of the file or delta that is being read. */
    bytes: fileBytesField,
    isDelta: z.boolean(),
    data: chunkField,
  }),
});
