// Brings a working copy up to the head of record: files first, then the log, as git would.
// builder.json follows by the rules of open-ring.ts.
import { mkdir, readdir } from 'node:fs/promises';
import { must } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { parseState } from '@ringwright/builder/state/state-json';
import { readSharedFile } from '@ringwright/head-store/ring-store';
import { replaceDurably } from '@ringwright/node/durable-files';
import { exists, nullIfMissing } from '@ringwright/node/missing-file';
import { decodeRing } from '@ringwright/ring/file/ring-file';
import { printBuilderFile } from '../folder/builder-file.ts';
import { type InstallOptions, installRingFolder } from '../folder/install-ring-folder.ts';
import { makesVersion, pruningOf } from '../folder/log-entry.ts';
import { headOf, parseRingLog, type RingLog, readRingLog } from '../folder/read-log.ts';
import { removeLeftovers } from '../folder/remove-leftovers.ts';
import {
  type RingFolder,
  receiptsFileName,
  ringFolder,
  versionPath,
  workingPath,
} from '../folder/ring-folder.ts';
import { publishHead } from './publish-head.ts';
import { readSharedHead, type SharedHead } from './shared-head.ts';

/**
 * Returns the head that the folder now follows; null without a store. A history without a head in
 * the store, or whose head no ring store has, is published there. The caller holds the lock. Throws
 * LOGS_DIVERGED and what readSharedHead and publishHead throw.
 */
export async function pullHead(rings: string, folder: RingFolder): Promise<SharedHead | null> {
  const ownLog = await readRingLog(folder);
  const shared = await readSharedHead(rings, folder.ring, ownLog);
  if (shared === null) return null;
  if (shared.content === null) {
    if (ownLog.entries.length === 0) return shared;
    await publishHead(folder, shared, { log: ownLog, changed: [] });
    return readSharedHead(rings, folder.ring);
  }
  const log = parseRingLog(folder, shared.content.log);
  // A commit that was refused may have left receipts that are not those of the store.
  await removeLeftovers(folder, headOf(ownLog.entries)?.version ?? 0);
  await fetchReceipts(folder, shared, log);
  if (log.text === ownLog.text) return shared;
  if (!log.text.startsWith(ownLog.text)) throw diverged(folder, ownLog, log);
  const missed = log.entries.slice(ownLog.entries.length);
  const noted = missed.filter((entry) => makesVersion(entry) || entry.kind === 'sign');
  await fetchFiles(folder, shared, new Set(noted.map(({ version }) => version)));
  await replaceDurably(folder.log, log.text);
  return shared;
}

/**
 * Makes the folder of a ring that exists only in the store. Returns false if the store lacks it
 * too.
 */
export async function cloneRing(
  location: { readonly rings: string; readonly ring: string },
  author: InstallOptions['author'],
): Promise<boolean> {
  if (await exists(ringFolder(location.rings, location.ring).path)) return false;
  return (await takeStored(location, { author, replace: false })) !== null;
}

/**
 * Replaces the history here by that of the store. Returns null if the store has none. Throws what
 * installRingFolder and readSharedHead throw.
 */
export async function takeStored(
  { rings, ring }: { readonly rings: string; readonly ring: string },
  placing: InstallOptions,
): Promise<{ readonly kept: string | null } | null> {
  const shared = await readSharedHead(rings, ring);
  if (shared === null || shared.content === null) return null;
  const { files, log: text } = shared.content;
  const kept = await installRingFolder(ringFolder(rings, ring), placing, async (newFolder) => {
    const log = parseRingLog(newFolder, text);
    await fetchFiles(newFolder, shared, new Set(files.map(({ version }) => version)));
    await fetchReceipts(newFolder, shared, log);
    await replaceDurably(newFolder.log, log.text);
    await replaceDurably(newFolder.builder, await builderText(shared, log));
  });
  return { kept };
}

async function builderText({ record, content }: SharedHead, log: RingLog): Promise<string> {
  const head = must(headOf(log.entries), 'a recorded history has a version');
  const file = must(
    content?.files.find(({ version }) => version === head.version),
    'with a file',
  );
  const { builder } = decodeRing(await readSharedFile(must(record, 'and a record'), file));
  const state = parseState(must(builder, 'every committed version carries its builder'));
  return printBuilderFile({ head, log: log.hashes.at(-1) ?? null, state, staged: [] });
}

/** Replaces files, because a version may have been signed since. */
async function fetchFiles(
  folder: RingFolder,
  { record, content }: SharedHead,
  versions: ReadonlySet<number>,
): Promise<void> {
  await mkdir(folder.versions, { recursive: true });
  for (const file of content?.files ?? []) {
    if (!versions.has(file.version)) continue;
    const bytes = await readSharedFile(must(record, 'content is of a record'), file);
    await replaceDurably(versionPath(folder, file.version), bytes);
  }
}

/**
 * Fetches all receipts that this copy lacks, of any version that was not pruned: another copy may
 * have added them later.
 */
async function fetchReceipts(
  folder: RingFolder,
  { record, content }: SharedHead,
  { entries }: RingLog,
): Promise<void> {
  const presentNames = new Set((await readdir(folder.receipts).catch(nullIfMissing)) ?? []);
  const lacking = (content?.receipts ?? []).filter(
    ({ version }) =>
      !presentNames.has(receiptsFileName(version)) && pruningOf(entries, version) === null,
  );
  if (lacking.length > 0) await mkdir(folder.receipts, { recursive: true });
  for (const file of lacking) {
    const bytes = await readSharedFile(must(record, 'content is of a record'), file);
    await replaceDurably(workingPath(folder, file), bytes);
  }
}

function diverged(folder: RingFolder, ownLog: RingLog, storeLog: RingLog): CodedError {
  const { ring } = folder;
  const at = ownLog.hashes.findIndex((hash, index) => hash !== storeLog.hashes[index]);
  const message = `line ${at + 1} of ${folder.log} is not in the history of the store`;
  return new CodedError('LOGS_DIVERGED', message, {
    hint: `a commit was made without the store: ring-builder restore ${ring} --from store --replace uses the history of the store, and keeps the one here`,
    details: { ring, line: at + 1 },
  });
}
