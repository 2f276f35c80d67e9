// Reading one committed version of a ring.
import { readFile } from 'node:fs/promises';
import { CodedError } from '@ringwright/base/coded-error';
import type { BuilderState } from '@ringwright/builder/builder-state';
import { parseState } from '@ringwright/builder/state-json';
import type { Ring } from '@ringwright/ring/ring';
import { decodeRing } from '@ringwright/ring/ring-file';
import { type LogEntry, makesVersion } from './log-entry.ts';
import { pruningOf } from './pruned-versions.ts';
import { headOf, readRingLog } from './read-log.ts';
import {
  exists,
  onlyMissing,
  type RingFolder,
  requireRing,
  ringFolder,
  versionPath,
} from './ring-folder.ts';

export interface StoredVersion {
  readonly ring: Ring;
  readonly id: string;
  /** The file as it is, ready to be pushed. */
  readonly bytes: Uint8Array;
  /** What the builder knew at this version; null when the file does not carry it. */
  readonly state: BuilderState | null;
}

/**
 * A committed version, decoded. Its id is the one that the log names. Throws RING_UNKNOWN,
 * RING_EMPTY, RING_VERSION_UNKNOWN with the versions there are, RING_VERSION_PRUNED,
 * RING_FILE_INVALID.
 */
export async function readVersion(
  rings: string,
  ring: string,
  version: number | 'head',
): Promise<StoredVersion> {
  const folder = ringFolder(rings, ring);
  await requireRing(folder);
  const { entries } = await readRingLog(folder);
  const head = headOf(entries);
  if (head === null) {
    throw new CodedError('RING_EMPTY', `ring ${ring} has no committed version yet`, {
      hint: `ring-builder commit ${ring} -m TEXT makes version 1`,
      details: { ring },
    });
  }
  const wanted = version === 'head' ? head.version : version;
  const entry = entries.find((one) => makesVersion(one) && one.version === wanted);
  if (entry === undefined) {
    throw new CodedError('RING_VERSION_UNKNOWN', `ring ${ring} has no version ${wanted}`, {
      hint: `ring-builder log ${ring}; there are versions ${firstVersion(entries)} to ${head.version}`,
      details: { ring, version: wanted, head: head.version },
    });
  }
  const pruning = pruningOf(entries, wanted);
  if (pruning !== null && !(await exists(versionPath(folder, wanted)))) {
    const where = pruning.archive === null ? 'kept nowhere' : `archived in ${pruning.archive}`;
    throw new CodedError('RING_VERSION_PRUNED', `version ${wanted} of ${ring} was pruned`, {
      hint: `its file is ${where}; ring-builder log ${ring} still tells what it did`,
      details: { ring, version: wanted, archive: pruning.archive },
    });
  }
  const stored = await readVersionFile(folder, wanted);
  if (stored.id !== entry.id) {
    const message = `${versionPath(folder, wanted)} has id ${stored.id}, the log says ${entry.id}`;
    throw new CodedError('RING_FILE_INVALID', message, {
      hint: `ring-builder verify ${ring}`,
      details: { ring, version: wanted, found: stored.id, wanted: entry.id },
    });
  }
  return stored;
}

function firstVersion(entries: readonly LogEntry[]): number {
  return entries.find(makesVersion)?.version ?? 1;
}

/** The file of a version, whatever the log says of it. */
export async function readVersionFile(folder: RingFolder, version: number): Promise<StoredVersion> {
  const path = versionPath(folder, version);
  const bytes = await readFile(path).catch(onlyMissing);
  if (bytes === null) {
    throw new CodedError('RING_FILE_INVALID', `${path} is not there, though the log names it`, {
      hint: `get the file back from git or a server, then: ring-builder verify ${folder.ring}`,
      details: { ring: folder.ring, version, path },
    });
  }
  const { ring, id, builder } = decodeRing(bytes);
  return { ring, id, bytes, state: builder === null ? null : parseState(builder) };
}
