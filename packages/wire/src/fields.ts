// Schemas of the fields that messages share, with their limits. Pure.
import {
  deviceCountMax,
  keyBytesMax,
  partitionCountMax,
  transferChunkBytesMax,
  valueBytesMax,
} from '@ringwright/base/limits';
import { stampMsMax, stampTieMax } from '@ringwright/base/stamp';
import { keyspaceNamePattern } from '@ringwright/ring/keyspace-name';
import { z } from 'zod';

/**
 * The limits are metadata too: they appear in the JSON schemas that the wire version is checked
 * against.
 */
export const bytesField = (label: string, min: number, max: number) =>
  z
    .custom<Uint8Array>(
      (value) => value instanceof Uint8Array && value.length >= min && value.length <= max,
      `${label} of ${min} to ${max} bytes`,
    )
    .meta({ minBytes: min, maxBytes: max });

export const keyspaceField = z.string().regex(keyspaceNamePattern);
export const versionField = z.int().min(1);
export const ringIdField = z.string().regex(/^[0-9a-f]{64}$/);
export const partitionField = z
  .int()
  .min(0)
  .max(partitionCountMax - 1);
export const deviceIdField = z
  .int()
  .min(0)
  .max(deviceCountMax - 1);
export const assignmentField = z.int().min(0);
export const sequenceField = z.int().min(0);
export const countField = z.int().min(0);
export const incarnationField = z.string().min(1).max(64);
export const digestField = z.string().regex(/^[0-9a-f]{16}$/);
/** Of a copied file: a key, and the checksum of the file under that key. */
export const keyedChecksumField = z.string().regex(/^[0-9a-f]{64}$/);
export const keyField = bytesField('key', 1, keyBytesMax);
/** Only keys above this one; empty: from the first key. */
export const afterField = bytesField('key or nothing', 0, keyBytesMax);
export const valueField = z.nullable(bytesField('value', 0, valueBytesMax));
export const chunkField = bytesField('chunk', 0, transferChunkBytesMax);
export const msField = z.int().min(0).max(stampMsMax);
export const tieField = z.int().min(0).max(stampTieMax);
/** The same states as in the partition store. */
export const partitionStateField = z.enum(['filling', 'ready', 'lost']);

export const stampField = z.strictObject({ ms: msField, tie: tieField });

/** What a key holds: a null value is a tombstone. */
export const contentFields = {
  value: valueField,
  ms: msField,
  tie: tieField,
  /** Unix ms from which it counts as deleted; absent: never. */
  expiresMs: z.optional(msField),
  /** The stamp it was first written with; absent: its own stamp. */
  origin: z.optional(stampField),
};
/** One record in a message. */
export const recordFields = { key: keyField, ...contentFields };
/** A partition, with the ring version that the sender uses. */
export const partitionFields = {
  keyspace: keyspaceField,
  ringVersion: versionField,
  partition: partitionField,
};
