// Puts and gets of clients: the server that receives one coordinates it, and stamps writes. Pure.
import { ttlMsMax } from '@ringwright/base/limits';
import { z } from 'zod';
import {
  contentFields,
  keyField,
  keyspaceField,
  msField,
  stampField,
  tieField,
  valueField,
  versionField,
} from './fields.ts';
import { messageKind } from './message.ts';

export const consistencyField = z.enum(['one', 'quorum', 'all', 'linearizable']);
export type ConsistencyLevel = z.infer<typeof consistencyField>;

/**
 * What the key must hold for the write to happen: nothing, something, or the record with a stamp.
 */
const conditionField = z.union([z.enum(['absent', 'present']), stampField]);
export type Condition = z.infer<typeof conditionField>;

const commonFields = {
  keyspace: keyspaceField,
  key: keyField,
  consistency: consistencyField,
  /** What the session has seen: a put is stamped above it, a get never returns older data. */
  session: z.nullable(z.strictObject({ ms: msField, tie: tieField, weak: z.boolean() })),
};

/** A null value deletes. The answer has the coordinator's ring version, for clients to follow. */
export const coordinatePut = messageKind({
  method: 'coordinate-put',
  request: z.strictObject({
    ...commonFields,
    value: valueField,
    /** Counted by the server's clock from the arrival of the request; null: never expires. */
    ttlMs: z.nullable(z.int().min(1).max(ttlMsMax)),
    condition: z.nullable(conditionField),
  }),
  answer: z.strictObject({
    ms: msField,
    tie: tieField,
    origin: contentFields.origin,
    expiresMs: contentFields.expiresMs,
    ringVersion: versionField,
  }),
});

export const coordinateGet = messageKind({
  method: 'coordinate-get',
  request: z.strictObject(commonFields),
  answer: z.strictObject({
    /** A tombstone has a null value and a stamp. */
    record: z.nullable(z.strictObject(contentFields)),
    ringVersion: versionField,
  }),
});
