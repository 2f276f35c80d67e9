// hello: the first message of a connection, both ways: who I am, which rings I have. Pure.
import { ringSignatureCountMax } from '@ringwright/base/limits';
import { z } from 'zod';
import { keyspaceField, msField, ringIdField, versionField } from './fields.ts';
import { messageKind } from './message.ts';

const HELLO_RINGS_MAX = 1_000;

export const ringHeadSchema = z.strictObject({
  keyspace: keyspaceField,
  version: versionField,
  id: ringIdField,
});
export type RingHead = z.infer<typeof ringHeadSchema>;

/** A ring that somebody has active, and how many keys it trusts have signed its copy. */
const ringHeldSchema = ringHeadSchema.extend({
  signers: z.int().min(0).max(ringSignatureCountMax),
});
export type RingHeld = z.infer<typeof ringHeldSchema>;

/** A state of a data directory: which one it is, and how old. */
export const generationSchema = z.strictObject({
  /** Random id of the directory, made when it was: a wiped device has another. */
  born: z.string().max(64),
  /** Rises with time and with every start; a directory put back from a backup has a lower one. */
  age: z.int().min(0),
  /** Random id of this age. */
  mark: z.string().max(64),
});
export type Generation = z.infer<typeof generationSchema>;

/** Of the access document that is in force; null: none, or the sender tells nobody unknown. */
const accessHeadSchema = z.strictObject({ epoch: versionField, version: versionField });
export type AccessHead = z.infer<typeof accessHeadSchema>;

const introduction = {
  wireVersion: z.int().min(1),
  /** `ip:port` other servers reach this one at; empty for a tool. */
  address: z.string().max(300),
  /** The sender's data directory; null for a tool. */
  life: z.nullable(generationSchema),
  /** True when the sender holds all it should: from then on `life.born` is who it is. */
  settled: z.boolean(),
  /** The sender's hybrid clock. */
  ms: msField,
  rings: z.array(ringHeldSchema).max(HELLO_RINGS_MAX),
  /** What the sender remembers of the receiver's directory; null when they never met. */
  remembered: z.nullable(generationSchema),
  access: z.nullable(accessHeadSchema),
};

export const hello = messageKind({
  method: 'hello',
  request: z.strictObject(introduction),
  answer: z.strictObject(introduction),
});
