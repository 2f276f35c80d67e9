// One ring store: a folder, on a disk of its own, with the files of transactions. The transaction
// file is written last: if it exists, all files that it names exist. A store without the
// transaction file of the head is behind, and no history is read from it.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { ringFileBytesMax } from '@ringwright/base/limits';
import { quoteCommand } from '@ringwright/base/quote-command';
import { sha256 } from '@ringwright/base/sha256';
import { addDurably, finalName, makeDirectoryPath } from '@ringwright/node/durable-files';
import { nullIfMissing } from '@ringwright/node/missing-file';
import { readRegularFile } from '@ringwright/node/read-regular-file';
import {
  type HeadRecord,
  parseTransaction,
  type StoredFile,
  type TransactionFile,
  transactionName,
  transactionOrNull,
} from './head-record.ts';

/** A transaction with all that is needed to store it. */
export interface Transaction {
  readonly record: HeadRecord;
  readonly content: TransactionFile;
  readonly text: string;
}

/**
 * Stores a transaction; durable when it resolves. A store that was behind has then caught up. The
 * store's folder must exist: an unmounted one would be created on the wrong disk.
 */
export async function hold(
  store: string,
  { record, content, text }: Transaction,
  read: (file: StoredFile) => Promise<Uint8Array>,
): Promise<void> {
  const folder = join(store, record.ring);
  await readdir(store);
  await makeDirectoryPath(folder);
  const existing = new Set(await readdir(folder));
  for (const file of [...content.files, ...content.receipts]) {
    if (!existing.has(file.name)) await addDurably(join(folder, file.name), await read(file));
  }
  await addDurably(join(folder, transactionName(record)), text);
}

/** Null when the store is behind. Throws when it is unreachable, or HEAD_RECORD_INVALID. */
export async function readTransaction(
  store: string,
  record: HeadRecord,
): Promise<TransactionFile | null> {
  const path = join(store, record.ring, transactionName(record));
  const bytes = await readRegularFile(path, ringFileBytesMax).catch(nullIfMissing);
  if (bytes === null || sha256(bytes) !== record.file) return null;
  return parseTransaction(bytes.toString('utf8'));
}

export interface StoredTransaction {
  readonly path: string;
  readonly content: TransactionFile;
}

/**
 * Returns the transactions of a ring store that were based on another one: their ring had a head. A
 * first transaction may be of a commit that was stopped. Skips unreadable files; a store that does
 * not answer has none.
 */
export async function laterTransactions(store: string, ring: string): Promise<StoredTransaction[]> {
  const folder = join(store, ring);
  const found: StoredTransaction[] = [];
  for (const name of await readdir(folder).catch(() => [])) {
    if (!/^[0-9]{10}-[0-9a-f]{40}[.]json$/.test(name)) continue;
    const path = join(folder, name);
    const text = await readRegularFile(path, ringFileBytesMax).then(String, () => '');
    const content = transactionOrNull(text);
    if (content !== null && content.sequence > 1) found.push({ path, content });
  }
  return found;
}

/** Null when the file is missing or damaged. */
async function readStored(
  store: string,
  ring: string,
  file: StoredFile,
): Promise<Uint8Array | null> {
  const bytes = await readRegularFile(join(store, ring, file.name), ringFileBytesMax).catch(
    () => null,
  );
  return bytes !== null && sha256(bytes) === file.sha256 ? bytes : null;
}

/** Removes the files of a transaction that was refused. */
export async function discard(store: string, record: HeadRecord): Promise<void> {
  const prefix = transactionName(record).slice(0, -'.json'.length);
  await removeWhere(join(store, record.ring), (name) => name.startsWith(prefix));
}

/**
 * Removes files that no head can name any more: those up to this transaction's sequence that it
 * does not name. They belong to older heads, or to commits that were stopped or lost against this
 * one.
 */
export async function removeOlderFiles(
  store: string,
  { record, content }: Transaction,
): Promise<void> {
  const files = [...content.files, ...content.receipts];
  const named = new Set([transactionName(record), ...files.map(({ name }) => name)]);
  await removeWhere(join(store, record.ring), (name) => {
    const sequence = Number(/^(\d{10})-[0-9a-f]{40}/.exec(name)?.[1] ?? Number.NaN);
    return sequence <= record.sequence && !named.has(name);
  });
}

/** A temporary file counts as the file it was to become. */
async function removeWhere(folder: string, isRemovable: (name: string) => boolean): Promise<void> {
  for (const name of (await readdir(folder).catch(nullIfMissing)) ?? []) {
    if (isRemovable(finalName(name))) await rm(join(folder, name), { force: true });
  }
}

/** Reads from the first ring store that has caught up; null when there is none. */
export async function readContent(record: HeadRecord): Promise<TransactionFile | null> {
  for (const store of record.stores) {
    const content = await readTransaction(store, record).catch(() => null);
    if (content !== null) return content;
  }
  return null;
}

/** Throws RING_STORES_TOO_FEW when no ring store has caught up. */
export async function requireContent(record: HeadRecord): Promise<TransactionFile> {
  const content = await readContent(record);
  if (content !== null) return content;
  throw noneCaughtUp(record);
}

/**
 * Reads a file that a transaction names and verifies its digest. So it may come from any ring
 * store: also from one that a newer transaction has reached meanwhile. Throws RING_STORES_TOO_FEW.
 */
export async function readSharedFile(record: HeadRecord, file: StoredFile): Promise<Uint8Array> {
  const { ring, stores } = record;
  for (const store of stores) {
    const bytes = await readStored(store, ring, file);
    if (bytes !== null) return bytes;
  }
  const damaged: string[] = [];
  for (const store of stores) {
    if ((await readTransaction(store, record).catch(() => null)) === null) continue;
    damaged.push(join(store, ring, file.name));
  }
  throw damaged.length === 0 ? noneCaughtUp(record) : fileDamaged(record, file, damaged);
}

/** Returns the paths of files that the transaction names and this store lacks or has damaged. */
export async function damagedFiles(
  store: string,
  { ring, files, receipts }: TransactionFile,
): Promise<string[]> {
  const damaged: string[] = [];
  for (const file of [...files, ...receipts]) {
    if ((await readStored(store, ring, file)) === null) damaged.push(join(store, ring, file.name));
  }
  return damaged;
}

function fileDamaged(
  { ring, stores }: HeadRecord,
  { version }: StoredFile,
  damaged: readonly string[],
): CodedError {
  const repair = quoteCommand(['ring-builder', 'stores', ring, ...stores]);
  const message = `version ${version} of ${ring} is damaged in ${damaged.join(', ')}`;
  return new CodedError('RING_STORES_TOO_FEW', message, {
    hint: `in a folder of rings that has this version: ${repair}`,
    details: { ring, version, damaged },
  });
}

function noneCaughtUp({ ring, stores, sequence }: HeadRecord): CodedError {
  const message = `no ring store has transaction ${sequence} of ${ring}: ${stores.join(', ')}`;
  return new CodedError('RING_STORES_TOO_FEW', message, {
    hint: 'are they mounted? A majority of them had stored it before it became the head',
    details: { ring, stores, sequence },
  });
}
