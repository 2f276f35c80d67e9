// Puts and gets of clients: the server that is asked stamps the write and coordinates it. Pure.
import { z } from 'zod';
import { keyField, keyspaceField, msField, tieField, valueField, versionField } from './fields.ts';
import { messageKind } from './message.ts';

export const consistencyField = z.enum(['one', 'quorum', 'all']);
export type ConsistencyLevel = z.infer<typeof consistencyField>;

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
  request: z.strictObject({ ...about, value: valueField }),
  answer: z.strictObject({ ms: msField, tie: tieField, ringVersion: versionField }),
});

export const coordinateGet = messageKind({
  method: 'coordinate-get',
  request: z.strictObject(about),
  answer: z.strictObject({
    /** A tombstone has a null value and a stamp. */
    record: z.nullable(z.strictObject({ value: valueField, ms: msField, tie: tieField })),
    ringVersion: versionField,
  }),
});
