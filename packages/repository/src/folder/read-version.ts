// Reads one committed version of a ring.
import { CodedError } from '@ringwright/base/coded-error';
import { ringFileBytesMax } from '@ringwright/base/limits';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { parseState } from '@ringwright/builder/state/state-json';
import { exists, nullIfMissing } from '@ringwright/node/missing-file';
import { readRegularFile } from '@ringwright/node/read-regular-file';
import { decodeRing, type RingFile } from '@ringwright/ring/file/ring-file';
import { type LogEntry, makesVersion, type Pruning, pruningOf } from './log-entry.ts';
import { readEntries, requireHead } from './read-log.ts';
import { requireFolderOf, requireRing } from './require-ring.ts';
import { archiveOf, type RingFolder, versionPath } from './ring-folder.ts';
import { versionSpan } from './version-span.ts';

export interface StoredVersion extends Omit<RingFile, 'builder'> {
  /** The bytes of the file, ready to be pushed. */
  readonly bytes: Uint8Array;
  /** The builder state at this version; null if the file does not carry it. */
  readonly state: BuilderState | null;
}

/**
 * Returns a committed version, decoded, with the id that the log names. Throws RING_UNKNOWN,
 * RING_EMPTY, RING_LOG_DAMAGED, RING_VERSION_UNKNOWN with the versions that exist,
 * RING_VERSION_PRUNED, RING_FILE_INVALID, RING_FOREIGN.
 */
export async function readVersion(
  rings: string,
  ring: string,
  version: number | 'head',
): Promise<StoredVersion> {
  const folder = await requireRing(rings, ring);
  return readLoggedVersion(folder, await readEntries(folder), version);
}

/**
 * As readVersion, for a ring whose log was read already. The log of 1,000 versions takes 20 ms to
 * check, so a command that reads many versions reads it once.
 */
export async function readLoggedVersion(
  folder: RingFolder,
  entries: readonly LogEntry[],
  version: number | 'head',
): Promise<StoredVersion> {
  const { ring } = folder;
  const head = requireHead(ring, entries);
  const versionNumber = version === 'head' ? head.version : version;
  const entry = entries.find((one) => makesVersion(one) && one.version === versionNumber);
  if (entry === undefined) {
    const span = versionSpan(entries.find(makesVersion)?.version ?? 1, head.version);
    throw new CodedError('RING_VERSION_UNKNOWN', `ring ${ring} has no version ${versionNumber}`, {
      hint: `ring-builder log ${ring}; it has ${span}`,
      details: { ring, version: versionNumber, head: head.version },
    });
  }
  const pruning = pruningOf(entries, versionNumber);
  const path = await versionFilePath(folder, versionNumber, pruning);
  if (path === null) {
    const archive = pruning?.archive ?? null;
    const fileState = archive === null ? 'deleted' : `archived in ${archive}`;
    throw new CodedError('RING_VERSION_PRUNED', `version ${versionNumber} of ${ring} was pruned`, {
      hint: `its file is ${fileState}; ring-builder log ${ring} still shows what it did`,
      details: { ring, version: versionNumber, archive },
    });
  }
  const stored = await readVersionFile(folder, versionNumber, path);
  requireLogged(stored, entry, { ring, path });
  requireFolderOf(folder, stored.ring.keyspace);
  return stored;
}

/**
 * Throws RING_FILE_INVALID if the id differs from the log's. Files and log of two histories may
 * have been mixed in one folder.
 */
export function requireLogged(
  { id }: StoredVersion,
  entry: Pick<LogEntry, 'version' | 'id'>,
  { ring, path }: { readonly ring: string; readonly path: string },
): void {
  if (id === entry.id) return;
  throw new CodedError('RING_FILE_INVALID', `${path} has id ${id}, but the log says ${entry.id}`, {
    hint: `ring-builder verify ${ring}`,
    details: { ring, version: entry.version, found: id, wanted: entry.id },
  });
}

/**
 * Returns the file's path in the folder, or in the archive if it was pruned; null if it is gone.
 */
export async function versionFilePath(
  folder: RingFolder,
  version: number,
  pruning: Pruning | null,
): Promise<string | null> {
  const path = versionPath(folder, version);
  if (pruning === null || (await exists(path))) return path;
  if (pruning.archive === null) return null;
  const archived = versionPath(archiveOf(pruning.archive, folder.ring), version);
  return (await exists(archived)) ? archived : null;
}

/** Reads the file of a version without consulting the log. */
export async function readVersionFile(
  folder: RingFolder,
  version: number,
  path: string = versionPath(folder, version),
): Promise<StoredVersion> {
  const bytes = await readRegularFile(path, ringFileBytesMax).catch(nullIfMissing);
  if (bytes === null) {
    throw new CodedError('RING_FILE_INVALID', `${path} is missing, but the log names it`, {
      hint: `restore the file from git or a server, then: ring-builder verify ${folder.ring}`,
      details: { ring: folder.ring, version, path },
    });
  }
  try {
    const { builder, ...decoded } = decodeRing(bytes);
    const state = builder === null ? null : parseState(builder);
    return { ...decoded, bytes, state };
  } catch (error) {
    throw damaged(error, { ring: folder.ring, version, path });
  }
}

/** Adds the path of the file to the error. */
function damaged(
  error: unknown,
  location: { readonly ring: string; readonly version: number; readonly path: string },
): unknown {
  if (!(error instanceof CodedError)) return error;
  const { code, message, details } = error;
  const hint =
    `restore it from git; or take over what a server has, which keeps this folder: ` +
    `ring-builder restore ${location.ring} --from IP:PORT --replace`;
  return new CodedError(code, `${location.path}: ${message}`, {
    hint,
    details: { ...details, ...location },
    cause: error,
  });
}

/** The builder state that a version carries. Throws RING_FILE_INVALID where its file has none. */
export function stateOf({ ring, state }: Pick<StoredVersion, 'ring' | 'state'>): BuilderState {
  if (state !== null) return state;
  const { keyspace, version } = ring;
  const message = `version ${version} of ${keyspace} does not contain the builder`;
  throw new CodedError('RING_FILE_INVALID', message, {
    hint: 'such a file can only be used for lookups; use a version that ring-builder wrote',
    details: { ring: keyspace, version },
  });
}
