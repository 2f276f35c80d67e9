// Builds partition files from packed records. Runs in a helper process.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Failure, failureBy } from '@ringwright/base/disk-error';
import { type FileOwner, makeOwnedDurable, type OwnedFile } from '../audit/own-file.ts';
import type { PartitionRef } from '../file/data-paths.ts';
import { fileBytes, newTables } from '../file/new-partition-file.ts';
import { PartitionFile } from '../file/partition-file.ts';
import type { TombstoneMarks } from '../file/partition-info.ts';
import { unpackRecords } from '../file/record-bytes.ts';

/** Its marks are those of the file that the records come from. */
export interface FileToMake extends TombstoneMarks, PartitionRef {
  /** Its folder is created if needed; the file must not exist. */
  readonly file: string;
  /** The file's owner, durably; null: no owner, and the file is not synced. */
  readonly owner: FileOwner | null;
  /** See packRecords. */
  readonly records: Uint8Array;
  /** Digest of the original file, which has exactly these records. */
  readonly digest: string;
}

/** Placeholder; the adoption gives the file its real ids. */
const nobody: FileOwner = { incarnation: 'packed', life: 'packed', state: 'filling' };

export type MadeFile =
  | { readonly kind: 'made'; readonly owned: OwnedFile }
  /** The records do not match the digest. */
  | { readonly kind: 'differs' }
  | ({ readonly kind: 'failed' } & Failure);

/**
 * `onWait` is called when only the disk is left to wait for. A failed work leaves no file that
 * counts.
 */
export function makeFiles(works: readonly FileToMake[], onWait: () => void): Promise<MadeFile[]> {
  const written = works.map((work) => [work, writeFile(work)] as const);
  onWait();
  return Promise.all(written.map(([work, outcome]) => durably(work, outcome)));
}

function writeFile(work: FileToMake): MadeFile {
  try {
    const content = bytesOfFile(work);
    if (content?.owned.info.digest !== work.digest) return { kind: 'differs' };
    mkdirSync(dirname(work.file), { recursive: true, mode: 0o700 });
    writeFileSync(work.file, content.bytes, { flag: 'wx', mode: 0o600 });
    return { kind: 'made', owned: content.owned };
  } catch (error) {
    return failed(error);
  }
}

async function durably({ file, owner }: FileToMake, outcome: MadeFile): Promise<MadeFile> {
  if (outcome.kind !== 'made' || owner === null) return outcome;
  return makeOwnedDurable(file, owner).then(() => outcome, failed);
}

function failed(error: unknown): MadeFile {
  return { kind: 'failed', ...failureBy(error) };
}

function bytesOfFile({ keyspace, partition, owner, barrierMs, floorMs, ...work }: FileToMake) {
  const records = unpackRecords(work.records);
  if (records === null) return null;
  using cleanup = new DisposableStack();
  const tables = newTables({ keyspace, partition, ...(owner ?? nobody) });
  const file = cleanup.adopt(new PartitionFile(tables), ({ wal }) => wal.discard());
  file.apply(records);
  // After the records: a floor would refuse those below it.
  if (barrierMs > 0) file.change({ state: null, barrierMs, floorMs });
  file.flush();
  const owned: OwnedFile = { info: file.info(), highestMs: file.highestMs };
  return { owned, bytes: fileBytes(file.db) };
}
