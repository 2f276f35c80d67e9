// Puts and gets of clients: the server that is asked stamps the write and coordinates it. Pure.
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

/** What the key must hold for a write to be done: nothing, something, or the record of a stamp. */
const conditionField = z.union([z.enum(['absent', 'present']), stampField]);
export type Condition = z.infer<typeof conditionField>;

const about = {
  keyspace: keyspaceField,
  key: keyField,
  consistency: consistencyField,
  /** What the session has seen: a put is stamped above it, a get is not behind it. */
  session: z.nullable(z.strictObject({ ms: msField, tie: tieField, weak: z.boolean() })),
};

/** A null value deletes. The answer names the ring of the coordinator, so that clients follow it. */
export const coordinatePut = messageKind({
  method: 'coordinate-put',
  request: z.strictObject({
    ...about,
    value: valueField,
    /** The server's clock counts from when it gets the request; null: for ever. */
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
  request: z.strictObject(about),
  answer: z.strictObject({
    /** A tombstone has a null value and a stamp. */
    record: z.nullable(z.strictObject(contentFields)),
    ringVersion: versionField,
  }),
});
