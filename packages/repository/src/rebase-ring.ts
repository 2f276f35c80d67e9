// Stages again, on a newer head by others, what was staged on an older one.

import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { ringFileBytesMax } from '@ringwright/base/limits';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import type { Staged } from '@ringwright/builder/state/change';
import { replaceDurably } from '@ringwright/node/durable-files';
import { exists } from '@ringwright/node/missing-file';
import { readRegularFile } from '@ringwright/node/read-regular-file';
import type { VersionId } from '@ringwright/ring/audit/ring-candidate';
import { type BuilderFile, printBuilderFile } from './folder/builder-file.ts';
import { hasVersion, makesVersion } from './folder/log-entry.ts';
import { headOf, type RingLog, readRingLog } from './folder/read-log.ts';
import { readVersionFile } from './folder/read-version.ts';
import { removeLeftovers } from './folder/remove-leftovers.ts';
import { requireRing } from './folder/require-ring.ts';
import { type RingFolder, receiptsPath, versionPath } from './folder/ring-folder.ts';
import { withRingLock } from './folder/ring-lock.ts';
import { readBuilderFile } from './open-ring.ts';
import { type Replayed, replayStaged } from './replay-staged.ts';
import { readStoreFile } from './shared/store-file.ts';
import { type Author } from './write-ring.ts';

interface Rebased extends Replayed {
  readonly from: VersionId | null;
  readonly onto: VersionId | null;
  /** Versions fetched from the other folder. */
  readonly fetched: readonly number[];
}

interface RebaseRequest {
  /** Another rings folder with a longer history of the ring; null: use the log here. */
  readonly upstream: string | null;
  /** Leave out commands that no longer fit, instead of refusing. */
  readonly drop: boolean;
}

/**
 * Replays the staged commands on the end of the log, and makes builder.json follow it. Changes
 * nothing when it throws: REBASE_CONFLICT with each command and reason, LOGS_DIVERGED,
 * RING_UNKNOWN, LOCK_HELD.
 */
export async function rebaseRing(
  location: { readonly rings: string; readonly ring: string },
  author: Author,
  request: RebaseRequest,
): Promise<Rebased> {
  const folder = await requireRing(location.rings, location.ring);
  return withRingLock(folder, author, async () => {
    if (request.upstream !== null) await requireNoStore(location.rings);
    const file = await readBuilderFile(folder);
    const ownLog = await readRingLog(folder);
    const otherRing =
      request.upstream === null ? null : await upstreamLog(folder, request.upstream);
    const log =
      otherRing === null
        ? ownLog
        : longerLog(ownLog, otherRing.log, { ring: folder.ring, upstream: request.upstream ?? '' });
    // Reads version files from the folder with the longer history.
    const upstream = otherRing !== null && log !== ownLog ? otherRing.folder : null;
    const since = ownLog.entries.length;
    const onto = headOf(log.entries);
    const state = onto === null ? file.state : await stateAt(upstream ?? folder, onto);
    const replayed = replayStaged(file.staged, { from: file.state, onto: state });
    if (replayed.refused.length > 0 && !request.drop) throw conflict(folder, replayed);
    const { staged, refused } = withoutCreation(replayed, onto);
    await removeLeftovers(folder, headOf(ownLog.entries)?.version ?? 0);
    const fetched = upstream === null ? [] : await fetchVersions(upstream, folder, { log, since });
    if (log.text !== ownLog.text) await replaceDurably(folder.log, log.text);
    const lastHash = log.hashes.at(-1) ?? null;
    const next: BuilderFile = { head: onto, log: lastHash, state, staged };
    await replaceDurably(folder.builder, printBuilderFile(next));
    return { staged, refused, from: file.head, onto, fetched };
  });
}

/** Leaves out the command that created the ring here, if the ring has versions from elsewhere. */
function withoutCreation({ staged, refused }: Replayed, onto: VersionId | null): Replayed {
  const isCreation = ({ changes }: Staged): boolean => onto !== null && changes.length === 0;
  const reason = 'the ring has versions, which keep their own settings';
  return {
    staged: staged.filter((one) => !isCreation(one)),
    refused: [...refused, ...staged.filter(isCreation).map(({ command }) => ({ command, reason }))],
  };
}

/** Throws USAGE: a shared history comes only from its store. */
async function requireNoStore(rings: string): Promise<void> {
  const found = await readStoreFile(rings);
  if (found === null) return;
  throw new CodedError('USAGE', `the history of ${rings} comes from ${found.url}`, {
    hint: 'leave out --onto: every command fetches the newest versions first',
  });
}

async function upstreamLog(
  folder: RingFolder,
  upstream: string,
): Promise<{ folder: RingFolder; log: RingLog }> {
  const otherFolder = await requireRing(upstream, folder.ring);
  return { folder: otherFolder, log: await readRingLog(otherFolder) };
}

/** Returns the other log if it extends ours, or ours if it is the longer one. */
function longerLog(
  ownLog: RingLog,
  otherLog: RingLog,
  { ring, upstream }: { readonly ring: string; readonly upstream: string },
): RingLog {
  if (otherLog.text.startsWith(ownLog.text)) return otherLog;
  if (ownLog.text.startsWith(otherLog.text)) return ownLog;
  const at = ownLog.hashes.findIndex((hash, index) => hash !== otherLog.hashes[index]);
  const [ownEntry, otherEntry] = [ownLog.entries[at], otherLog.entries[at]];
  const name = (one: typeof ownEntry): string => `${one?.kind} of version ${one?.version}`;
  const both = `a ${name(ownEntry)} here and a ${name(otherEntry)} there`;
  const message = `line ${at + 1} of the log is ${both}`;
  throw new CodedError('LOGS_DIVERGED', `${ring}: ${message}`, {
    hint: divergedHint(ownLog, otherLog, { ring, upstream }),
    details: { ring, line: at + 1 },
  });
}

/** A restored folder has a log of its own, although its versions may be those of the other one. */
function divergedHint(
  ownLog: RingLog,
  otherLog: RingLog,
  { ring, upstream }: { readonly ring: string; readonly upstream: string },
): string {
  const take =
    `ring-builder restore ${ring} --from ${upstream} --replace uses that history and ` +
    'keeps the one here: then stage its changes again';
  if (has(ownLog, otherLog)) {
    return 'this history has the head of that folder: leave out --onto';
  }
  const why = has(otherLog, ownLog)
    ? 'that history has the head of this folder'
    : 'both sides committed';
  return `${why}; ${take}`;
}

/** Whether a log has the head of another one. */
function has({ entries }: RingLog, other: RingLog): boolean {
  const head = headOf(other.entries);
  return head === null || hasVersion(entries, head.id);
}

async function stateAt(folder: RingFolder, head: VersionId): Promise<BuilderState> {
  const path = versionPath(folder, head.version);
  const { id, state } = await readVersionFile(folder, head.version);
  if (id === head.id && state !== null) return state;
  throw new CodedError(
    'RING_FILE_INVALID',
    `${path} is not the version ${head.version} of the log`,
    {
      hint: `ring-builder verify ${folder.ring}`,
      details: { path, found: id, wanted: head.id },
    },
  );
}

/**
 * Fetches the files of the log's versions that `from` has: files before the log, and receipts
 * before their version. A version that was signed meanwhile is replaced. After a crash, the next
 * writer removes those above the head.
 */
export async function fetchVersions(
  from: RingFolder,
  to: RingFolder,
  missed: { readonly log: RingLog; readonly since: number },
): Promise<readonly number[]> {
  const { entries } = missed.log;
  const signed = new Set(
    entries.slice(missed.since).flatMap(({ kind, version }) => (kind === 'sign' ? version : [])),
  );
  const fetched: number[] = [];
  await mkdir(to.versions, { recursive: true });
  for (const { version } of entries.filter(makesVersion)) {
    await fetchFile(receiptsPath(from, version), receiptsPath(to, version));
    const path = versionPath(to, version);
    const isKnown = await exists(path);
    if (isKnown && !signed.has(version)) continue;
    const isFetched = await fetchFile(versionPath(from, version), path, { replace: isKnown });
    if (isFetched && !isKnown) fetched.push(version);
  }
  return fetched;
}

/** Returns false if there is no such file, or if it is here already and is not to be replaced. */
async function fetchFile(from: string, to: string, { replace = false } = {}): Promise<boolean> {
  if ((!replace && (await exists(to))) || !(await exists(from))) return false;
  await mkdir(dirname(to), { recursive: true });
  await replaceDurably(to, await readRegularFile(from, ringFileBytesMax));
  return true;
}

function conflict({ ring }: RingFolder, { refused }: Replayed): CodedError {
  const count = counted(refused.length, 'command does', 'commands do');
  const reasons = refused.map(({ command, reason }) => `${command}: ${reason}`);
  const message = `${count} not fit the new head: ${reasons.join('; ')}`;
  return new CodedError('REBASE_CONFLICT', message, {
    hint: `ring-builder rebase ${ring} --drop leaves them out; then stage again what you still want`,
    details: { ring, refused },
  });
}
