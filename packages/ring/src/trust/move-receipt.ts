// A move's receipt: the joiner's statement of what it loaded, from whom, and how this was verified.
// The key of its data directory signs it. The ring that finalizes the move requires it. Pure.
import type { KeyObject } from 'node:crypto';
import { canonicalJson } from '@ringwright/base/canonical-json';
import { CodedError } from '@ringwright/base/coded-error';
import { deviceCountMax, partitionCountMax, replicaCountMax } from '@ringwright/base/limits';
import { forceReasonCharactersMax, receiptBytesMax } from '@ringwright/base/limits-copies';
import { z } from 'zod';
import { keyspaceNamePattern } from '../keyspace-name.ts';
import { type Payload, signersOf, signPayload } from './dsse.ts';
import { keyIdOf, publicKeyOf, spkiOf } from './public-key.ts';
import {
  parseWithSchema,
  payloadOf,
  printSigned,
  signedDocument,
  signedDocumentSchema,
} from './signed-document.ts';

const receiptType = 'application/vnd.ringwright.receipt+json';

const count = z.int().min(0);
const device = count.max(deviceCountMax - 1);
const incarnation = z.string().min(1).max(64);
const digest = z.string().regex(/^[0-9a-f]{16}$/);

const receiptSchema = z.strictObject({
  cluster: z.string().max(128),
  keyspace: z.string().regex(keyspaceNamePattern),
  /** The ring under which the joiner loaded the partition. */
  version: z.int().min(1),
  ring: z.string().regex(/^[0-9a-f]{64}$/),
  partition: count.max(partitionCountMax - 1),
  replica: count.max(replicaCountMax - 1),
  assignment: count,
  from: device.nullable(),
  to: device,
  /** The whole file that was copied, as its source described it; null when no copy was needed. */
  copy: z
    .strictObject({ device, incarnation, seq: count, digest, rows: count, bytes: count })
    .nullable(),
  /** Devices whose records were merged, one after the other. */
  merged: z.array(device).max(replicaCountMax),
  /**
   * An operator's reason to let it join without all records that a quorum may have acknowledged.
   * Null: it has all of them.
   */
  forced: z.string().min(1).max(forceReasonCharactersMax).nullable(),
  /** The joiner's file after it had caught up. */
  file: z.strictObject({ incarnation, seq: count, digest, rows: count, bytes: count }),
  /** Milliseconds since 1970 by the joiner's clock. */
  ms: count,
  /** Id of the joiner's data directory: a wiped device has another id, and another key. */
  born: z.string().max(64),
  /** SPKI bytes of the directory's key, in base64; null: the receipt is not signed. */
  key: z.string().max(128).nullable(),
});

export type MoveReceipt = z.infer<typeof receiptSchema>;

/** A line and its receipt, with verified signature. */
export interface OpenedReceipt {
  readonly line: string;
  readonly receipt: MoveReceipt;
}

/** Returns one line of canonical JSON; signed if there is a key. */
export function printReceipt(receipt: Omit<MoveReceipt, 'key'>, key: KeyObject | null): string {
  const fullReceipt: MoveReceipt = { ...receipt, key: key === null ? null : spkiOf(key) };
  const payload: Payload = { type: receiptType, bytes: Buffer.from(canonicalJson(fullReceipt)) };
  const signatures = key === null ? [] : [signPayload(key, payload)];
  return printSigned(signedDocument(payload, signatures));
}

/**
 * Verifies the signature of a line and returns its receipt. It proves the author only to those who
 * already know the key. Throws RECEIPT_INVALID.
 */
export function openReceipt(line: string): MoveReceipt {
  if (Buffer.byteLength(line) > receiptBytesMax) {
    throw invalid(`it has more than ${receiptBytesMax} bytes`);
  }
  const document = parseWithSchema(signedDocumentSchema, line, invalid);
  if (printSigned(document) !== line) throw invalid('it is not in canonical form');
  const payload = payloadOf(document);
  if (payload.type !== receiptType) throw invalid(`its payload type is ${payload.type}`);
  const receipt = parseWithSchema(receiptSchema, document.payload, invalid);
  const { signatures } = document;
  const expectedCount = receipt.key === null ? 0 : 1;
  if (signatures.length !== expectedCount)
    throw invalid(`${signatures.length} signatures of ${expectedCount}`);
  if (receipt.key === null) return receipt;
  const key = publicKeyOf(receipt.key);
  if (key === null) throw invalid('its key is not an ed25519 key');
  const id = keyIdOf(receipt.key);
  if (!signersOf(payload, signatures, new Map([[id, key]])).has(id)) {
    throw invalid('its signature was not made with its key');
  }
  return receipt;
}

function invalid(sentence: string): CodedError {
  return new CodedError('RECEIPT_INVALID', `receipt refused: ${sentence}`, {
    hint: 'ring-builder moves RING retry PARTITION makes the joiner load and sign again',
  });
}
