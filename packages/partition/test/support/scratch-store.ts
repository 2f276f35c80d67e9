// A store in a temporary folder. When the test ends, all its folders are audited and removed.
/* oxlint-disable max-params -- `write` reads as a row of a table in the tests */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { checkStore } from '../../src/audit/check-store.ts';
import type { Write } from '../../src/file/record.ts';
import type { StoreLimits } from '../../src/log/store-limits.ts';
import { openStore } from '../../src/open-store.ts';
import type { Store } from '../../src/store.ts';

export interface Scratch extends AsyncDisposable {
  readonly directory: string;
  open(limits?: Partial<StoreLimits>): Promise<Store>;
  /** Opens a store and creates partition 0 of `test`, ready. */
  openReady(limits?: Partial<StoreLimits>): Promise<Store>;
  /** Copies the folder while the store runs: the copy is what a SIGKILL would leave. */
  image(): Scratch;
  /** Skips the audit at the end, for folders that the test damages on purpose. */
  damaged(): void;
}

export function scratch(from?: string): Scratch {
  const directory = mkdtempSync(join(tmpdir(), 'partition-'));
  // Copied by another process: opening a live database file here would drop SQLite's locks on it.
  if (from !== undefined) execFileSync('cp', ['-r', `${from}/.`, directory]);
  const stores: Store[] = [];
  const images: Scratch[] = [];
  let audited = true;
  let ended = false;
  const open = async (limits: Partial<StoreLimits> = {}): Promise<Store> => {
    const store = await openStore({ directory, newIncarnation: randomUUID, limits });
    stores.push(store);
    return store;
  };
  return {
    directory,
    open,
    openReady: async (limits) => {
      const store = await open(limits);
      await store.create('test', 0, 'ready');
      return store;
    },
    image: () => {
      const image = scratch(directory);
      images.push(image);
      return image;
    },
    damaged: () => {
      audited = false;
    },
    [Symbol.asyncDispose]: async () => {
      if (ended) return;
      ended = true;
      for (const image of images) await image[Symbol.asyncDispose]();
      for (const store of stores) await store.close();
      if (audited) expect(await checkStore(directory)).toEqual([]);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Cuts every WAL to the length that `keep` returns, as a power loss may. 0 removes the WAL. */
export function cutWals(directory: string, keep: (bytes: number) => number): void {
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('-wal')) continue;
    const file = join(directory, name);
    const bytes = Number(execFileSync('stat', ['-c', '%s', file], { encoding: 'utf8' }));
    const kept = keep(bytes);
    if (kept > 0) truncateSync(file, kept);
    else rmSync(file);
  }
}

/**
 * Damages what a power loss takes besides the WALs: first files of partitions that are not synced
 * yet, so that their CURRENT still says `new`.
 */
export function cutUnfinished(directory: string): void {
  const partitions = join(directory, 'partitions');
  for (const name of readdirSync(partitions, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('/CURRENT')) continue;
    const current = join(partitions, name);
    const [kind, incarnation = ''] = readFileSync(current, 'utf8').trim().split(' ');
    if (kind !== 'new') continue;
    truncateSync(join(dirname(current), incarnation, 'data.db'), 5_000);
    rmSync(current);
  }
}

export function logFiles(directory: string): string[] {
  const log = join(directory, 'log');
  if (!existsSync(log)) return [];
  return readdirSync(log)
    .sort()
    .map((name) => join(log, name));
}

/** Returns a write with a text as key and a text, or a deletion, as value. */
export function write(key: string, value: string | null, ms: number, partition = 0): Write {
  return {
    keyspace: 'test',
    partition,
    key: Buffer.from(key),
    value: value === null ? null : Buffer.from(value),
    ms,
    tie: 1,
  };
}

/** Returns the text stored under a key: null for a tombstone, undefined for nothing. */
export function textOf(store: Store, key: string, partition = 0): string | null | undefined {
  const record = store.read('test', partition, Buffer.from(key));
  if (record === null) return undefined;
  return record.value === null ? null : record.value.toString();
}

/** Copies a partition from one store into the same partition of another. */
export async function copyPartition(from: Store, to: Store, partition = 0): Promise<void> {
  await using snapshot = await from.snapshot('test', partition);
  await using incoming = await to.receiveCopy('test', partition, snapshot.manifest);
  while (incoming.received < snapshot.manifest.bytes) {
    const chunk = await snapshot.readChunk(incoming.received, 16_384);
    await incoming.write(incoming.received, chunk);
  }
  await incoming.finish();
}

/** Fills partition 0 with `count` records of `bytes` each. */
export async function fill(store: Store, count: number, bytes: number): Promise<void> {
  for (let at = 0; at < count; at += 500) {
    const length = Math.min(500, count - at);
    await store.write(
      Array.from({ length }, (_, i) => write(`key-${at + i}`, 'x'.repeat(bytes), at + i + 1)),
    );
  }
}
