// The record of the head of a shared ring, and the transaction file that it names: the whole log,
// and which file holds which version. Pure.
import { canonicalJson } from '@ringwright/base/canonical-json';
import { CodedError } from '@ringwright/base/coded-error';
import { ringStoresMax } from '@ringwright/base/limits';
import { jsonOrNull } from '@ringwright/base/parse-json';
import { z } from 'zod';

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const fileName = z.string().regex(/^\d{10}-[0-9a-f]{40}(-\d{7,10}\.(ring|jsonl)|\.json)$/);

const recordSchema = z.strictObject({
  format: z.literal(1),
  ring: z.string(),
  /** Random, like the ids of EventQL's METADATA transactions. */
  transaction: z.string().regex(/^[0-9a-f]{40}$/),
  /** Orders transactions: one more than the previous one. */
  sequence: z.int().positive(),
  /** The transaction it is based on. */
  base: z.string().nullable(),
  version: z.int().positive(),
  id: digest,
  /** SHA-256 of the last line of the log. */
  log: digest,
  /** SHA-256 of the transaction file. */
  file: digest,
  /** Folders that hold the files; changed by the same swap as the head. */
  stores: z.array(z.string().min(1)).min(1).max(ringStoresMax),
});
export type HeadRecord = z.infer<typeof recordSchema>;

const storedFile = z.strictObject({ version: z.int().positive(), name: fileName, sha256: digest });

const transactionSchema = z.strictObject({
  format: z.literal(1),
  ring: z.string(),
  transaction: z.string(),
  sequence: z.int().positive(),
  /** Content of log.jsonl. */
  log: z.string(),
  /** Versions whose files were not pruned, oldest first. */
  files: z.array(storedFile),
  /** Receipts of the versions that finalized moves; transactions of older releases have none. */
  receipts: z.array(storedFile).default([]),
});
export type TransactionFile = z.infer<typeof transactionSchema>;
export type StoredFile = z.infer<typeof storedFile>;

export function printRecord(record: HeadRecord | TransactionFile): string {
  return `${canonicalJson(record)}\n`;
}

/** Throws HEAD_RECORD_INVALID. */
export function parseRecord(text: string): HeadRecord {
  return parse(recordSchema, text, 'the record of the head');
}

/** Throws HEAD_RECORD_INVALID. */
export function parseTransaction(text: string): TransactionFile {
  return parse(transactionSchema, text, 'the transaction file');
}

export function transactionOrNull(text: string): TransactionFile | null {
  return transactionSchema.safeParse(jsonOrNull(text)).data ?? null;
}

/** Names begin with the sequence: a file that a later head does not name never becomes a head's. */
export function transactionName(record: Pick<HeadRecord, 'sequence' | 'transaction'>): string {
  return `${prefixOf(record)}.json`;
}

/** `name`: the file's name in a rings folder. */
export function storedName(
  record: Pick<HeadRecord, 'sequence' | 'transaction'>,
  name: string,
): string {
  return `${prefixOf(record)}-${name}`;
}

function prefixOf({ sequence, transaction }: Pick<HeadRecord, 'sequence' | 'transaction'>): string {
  return `${String(sequence).padStart(10, '0')}-${transaction}`;
}

function parse<T>(schema: z.ZodType<T>, text: string, what: string): T {
  const parsed = schema.safeParse(jsonOrNull(text));
  if (parsed.success) return parsed.data;
  const reason = z.prettifyError(parsed.error).replaceAll('\n', ' ');
  throw new CodedError('HEAD_RECORD_INVALID', `${what} cannot be read: ${reason}`, {
    hint: 'it was written by another program, or by a newer version of this one',
  });
}
