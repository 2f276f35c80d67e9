// EventQL's metadata transaction: stores the files durably in a majority of the ring stores, then
// moves the head by compare-and-swap, then removes files that no head can name any more.
//
// State after a crash right behind each step:
//   stored    old head; the next transaction's sweep removes the files
//   swapped   new head; the working copy is behind, and catches up with the next command
import { basename } from 'node:path';
import { CodedError, withDetails } from '@ringwright/base/coded-error';
import { ringFileBytesMax } from '@ringwright/base/limits';
import { quoteCommand } from '@ringwright/base/quote-command';
import { sha256 } from '@ringwright/base/sha256';
import {
  type HeadRecord,
  parseRecord,
  printRecord,
  type StoredFile,
  storedName,
  type TransactionFile,
} from '@ringwright/head-store/head-record';
import type { StoredHead } from '@ringwright/head-store/head-store';
import {
  discard,
  hold,
  readSharedFile,
  removeOlderFiles,
  type Transaction,
} from '@ringwright/head-store/ring-store';
import { exists, nullIfMissing } from '@ringwright/node/missing-file';
import { readRegularFile } from '@ringwright/node/read-regular-file';
import { type LogEntry, makesVersion, pruningOf } from '../folder/log-entry.ts';
import { headMoved, headOf, type RingLog } from '../folder/read-log.ts';
import { type RingFolder, receiptsPath, versionPath, workingPath } from '../folder/ring-folder.ts';
import { requireNothingLost } from './lost-head.ts';
import { proofOf } from './move-proof.ts';
import type { SharedHead } from './shared-head.ts';

export type PublishStep = 'stored' | 'swapped';

interface ToPublish {
  /** The whole new log. */
  readonly log: RingLog;
  /** Versions whose files are new or changed. */
  readonly changed: readonly number[];
  /** The new ring stores, if they are to change. */
  readonly stores?: readonly string[];
  readonly afterStep?: ((step: PublishStep) => void) | undefined;
}

/**
 * Makes the log the ring's shared history. Durable when it returns. Throws HEAD_MOVED,
 * RING_STORES_TOO_FEW, HEAD_STORE_UNREACHABLE, HEAD_LOST, with an unchanged head; HEAD_UNKNOWN if
 * only the next command can find out the result.
 */
export async function publishHead(
  folder: RingFolder,
  shared: SharedHead,
  toPublish: ToPublish,
): Promise<HeadRecord> {
  if (shared.content === null) await requireNothingLost(folder, shared.stores, toPublish.log);
  const next = await nextTransaction(folder, shared, toPublish);
  const { record } = next;
  const targetStores = [...new Set([...shared.stores, ...record.stores])];
  try {
    await storeAtMajority(folder, shared, { next, asked: targetStores });
    toPublish.afterStep?.('stored');
    await swapHead(shared, record);
  } catch (error) {
    const unknown = error instanceof CodedError && error.code === 'HEAD_UNKNOWN';
    if (!unknown) await Promise.allSettled(targetStores.map((store) => discard(store, record)));
    throw error;
  }
  toPublish.afterStep?.('swapped');
  await Promise.allSettled(targetStores.map((store) => removeOlderFiles(store, next)));
  return record;
}

async function nextTransaction(
  folder: RingFolder,
  shared: SharedHead,
  { log, changed, stores = shared.stores }: ToPublish,
): Promise<Transaction> {
  const { transaction } = shared;
  const sequence = (shared.record?.sequence ?? 0) + 1;
  const versionEntries = log.entries.filter(makesVersion);
  const keptEntries = versionEntries.filter(
    ({ version }) => pruningOf(log.entries, version) === null,
  );
  const proved = keptEntries.filter((entry) => (proofOf(entry)?.receipts.count ?? 0) > 0);
  const named = { sequence, transaction };
  const files = await storedFiles(keptEntries, {
    before: shared.content?.files ?? [],
    changed,
    pathOf: (version) => versionPath(folder, version),
    named,
  });
  // Receipts never change, so those already in the store are reused.
  const receipts = await storedFiles(proved, {
    before: shared.content?.receipts ?? [],
    changed: [],
    pathOf: (version) => receiptsPath(folder, version),
    named,
  });
  const { ring } = folder;
  const commonFields = { format: 1, ring, transaction, sequence } as const;
  const content: TransactionFile = { ...commonFields, log: log.text, files, receipts };
  const text = printRecord(content);
  const head = headOf(log.entries);
  const lastHash = log.hashes.at(-1);
  if (head === null || lastHash === undefined || stores.length === 0) throw noStores(ring, stores);
  const base = shared.record?.transaction ?? null;
  const record = {
    ...commonFields,
    base,
    ...head,
    log: lastHash,
    file: sha256(text),
    stores: [...stores],
  };
  return { record, content, text };
}

/**
 * Returns stored files: unchanged ones as before, new and changed ones from the working copy. Omits
 * files that are in neither.
 */
async function storedFiles(
  entries: readonly LogEntry[],
  options: {
    readonly before: readonly StoredFile[];
    readonly changed: readonly number[];
    readonly pathOf: (version: number) => string;
    readonly named: { readonly sequence: number; readonly transaction: string };
  },
): Promise<StoredFile[]> {
  const files: StoredFile[] = [];
  for (const { version } of entries) {
    const storedFile = options.before.find((one) => one.version === version);
    const path = options.pathOf(version);
    const isRead = options.changed.includes(version) || storedFile === undefined;
    const bytes = isRead
      ? await readRegularFile(path, ringFileBytesMax).catch(nullIfMissing)
      : null;
    const name = storedName(options.named, basename(path));
    if (bytes !== null) files.push({ version, name, sha256: sha256(bytes) });
    else if (storedFile !== undefined) files.push(storedFile);
  }
  return files;
}

/** Requires a majority of the old stores, a majority of the new ones, and every joining store. */
async function storeAtMajority(
  folder: RingFolder,
  shared: SharedHead,
  { next, asked: targetStores }: { readonly next: Transaction; readonly asked: readonly string[] },
): Promise<void> {
  const read = (file: StoredFile): Promise<Uint8Array> => readFileOf(folder, shared, file);
  const outcomes = await Promise.allSettled(targetStores.map((store) => hold(store, next, read)));
  const storedIn = new Set(targetStores.filter((_, at) => outcomes[at]?.status === 'fulfilled'));
  const isMajority = (stores: readonly string[]): boolean =>
    2 * stores.filter((store) => storedIn.has(store)).length > stores.length;
  const { ring, stores } = next.record;
  const storesBefore = shared.record?.stores ?? stores;
  const joined = stores.every((store) => storesBefore.includes(store) || storedIn.has(store));
  if (isMajority(storesBefore) && isMajority(stores) && joined) return;
  // The winner of a race removes the files that the losers are writing.
  await requireUnmoved(shared, next.record);
  const missing = (await Promise.all(targetStores.map(missingOf))).flat();
  const failed = outcomes.flatMap((one, at) => {
    const store = targetStores[at] ?? '';
    if (one.status === 'fulfilled') return [];
    return [
      missing.includes(store) ? `${store} does not exist` : `${store}: ${String(one.reason)}`,
    ];
  });
  const counts = `${storedIn.size} of ${targetStores.length} ring stores stored it`;
  const message = `${counts}: ${failed.join('; ')}`;
  throw new CodedError('RING_STORES_TOO_FEW', message, {
    hint: `${storesHint(missing, shared)}; nothing has changed`,
    details: { ring, stored: [...storedIn], failed },
  });
}

async function missingOf(store: string): Promise<string[]> {
  return (await exists(store).catch(() => true)) ? [] : [store];
}

/** A store that had the ring is not created anew: its disk may be unmounted for a while. */
function storesHint(missing: readonly string[], { record }: SharedHead): string {
  const rule = 'a majority must store it, and every joining one';
  if (missing.length === 0) return rule;
  const lostStores = missing.filter((store) => record?.stores.includes(store));
  if (lostStores.length > 0)
    return `${rule}: check that the disks of ${lostStores.join(' and ')} are mounted`;
  const make = quoteCommand(['mkdir', '-p', ...missing]);
  return `${rule}: if no disk has to be mounted there, create them with ${make}`;
}

/** Reads from the working copy if it has the file, else from a store. */
async function readFileOf(
  folder: RingFolder,
  { record }: SharedHead,
  file: StoredFile,
): Promise<Uint8Array> {
  const bytes = await readRegularFile(workingPath(folder, file), ringFileBytesMax).catch(
    nullIfMissing,
  );
  if (bytes !== null && sha256(bytes) === file.sha256) return bytes;
  if (record !== null) return readSharedFile(record, file);
  throw new Error(`version ${file.version} of ${folder.ring} changed while it was being stored`);
}

async function swapHead({ store, revision, record }: SharedHead, next: HeadRecord): Promise<void> {
  const { ring, version, id } = next;
  const outcome = await store.swap(ring, revision, printRecord(next));
  if (outcome === 'won') return;
  if (outcome === 'unknown') {
    throw new CodedError(
      'HEAD_UNKNOWN',
      `${store.url} did not confirm: version ${version} may or may not be the head`,
      {
        hint: `ring-builder status ${ring} shows it when the store answers again`,
        details: { ring, version, id },
      },
    );
  }
  throw otherHead(ring, record, await store.read(ring));
}

async function requireUnmoved(shared: SharedHead, { ring }: HeadRecord): Promise<void> {
  const stored = await shared.store.read(ring);
  if ((stored?.revision ?? null) !== shared.revision) throw otherHead(ring, shared.record, stored);
}

/** `stored`: what is there in the place of the record. */
function otherHead(ring: string, record: HeadRecord | null, stored: StoredHead | null): unknown {
  const found = stored === null ? null : parseRecord(stored.value);
  const [was, is] = [record, found].map((one) => one && { version: one.version, id: one.id });
  return withDetails(headMoved(ring, was ?? null, is ?? null), {
    transaction: found?.transaction ?? null,
  });
}

function noStores(ring: string, stores: readonly string[]): CodedError {
  const message = `${ring} has ${stores.length} ring stores for its files`;
  return new CodedError('USAGE', message, {
    hint: 'repeat the command with --ring-stores /srv/a/rings,/srv/b/rings,/srv/c/rings',
  });
}
