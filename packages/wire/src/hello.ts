// hello: the first message of a connection, both ways: identity, rings and clock of each end. Pure.
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

/** An active ring, and how many trusted keys have signed this copy of it. */
const ringHeldSchema = ringHeadSchema.extend({
  signers: z.int().min(0).max(ringSignatureCountMax),
});
export type RingHeld = z.infer<typeof ringHeldSchema>;

/** The state of a data directory: its identity and its age. */
export const generationSchema = z.strictObject({
  /** Random id of the directory, drawn at its creation: a wiped device has another. */
  born: z.string().max(64),
  /** Rises with time and with every start; a directory restored from a backup has a lower one. */
  age: z.int().min(0),
  /** Random id of this age. */
  mark: z.string().max(64),
});
export type Generation = z.infer<typeof generationSchema>;

/** Head of the access document in force; null: none, or not told to an unknown peer. */
const accessHeadSchema = z.strictObject({ epoch: versionField, version: versionField });
export type AccessHead = z.infer<typeof accessHeadSchema>;

const introduction = {
  wireVersion: z.int().min(1),
  /** `ip:port` at which other servers reach the sender; empty for a tool. */
  address: z.string().max(300),
  /** The sender's data directory; null for a tool. */
  life: z.nullable(generationSchema),
  /** True when the sender holds all it should: from then on `life.born` identifies it. */
  settled: z.boolean(),
  /** Time of the sender's hybrid clock. */
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
