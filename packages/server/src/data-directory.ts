// The data directory of a device, before anything in it is opened: there, writable, and its own.
import { constants } from 'node:fs';
import { access, chmod, mkdir, readdir, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { diskError } from '@ringwright/base/disk-error';
import { onlyMissing } from '@ringwright/node/missing-file';
import { requirePrivate } from '@ringwright/node/read-regular-file';
import { dataPaths } from '@ringwright/partition/data-paths';
import { identityFile } from './device-identity.ts';
import { deviceKeyFile } from './device-key.ts';
import { requireMountPoint } from './mount-point.ts';

/** A line for the log: how a mode was, and what came of it. */
export interface ModeNote {
  readonly path: string;
  readonly mode: string;
  readonly message: string;
}

/**
 * Makes it if it is not there. What others may read is closed to them, and told; but not a
 * directory that was here and is no device's, for its path may be mistyped. Throws
 * DATA_DIR_NOT_MOUNTED, and DISK_FAILED where it cannot be made or written.
 */
export async function prepareDataDirectory(
  directory: string,
  { mountCheck }: { readonly mountCheck: boolean },
): Promise<ModeNote[]> {
  if (mountCheck) await requireMountPoint(directory);
  let isOwn: boolean;
  try {
    const made = await mkdir(directory, { recursive: true, mode: 0o700 });
    isOwn = made !== undefined || (await isOfDevice(directory));
    await access(directory, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw unwritable(directory, cause);
  }
  const notes: ModeNote[] = [];
  // A key or lock in a directory that cannot be closed is still nobody else's.
  for (const path of [directory, dataPaths.lock(directory), deviceKeyFile(directory)]) {
    const note = await closeToOthers(path, path !== directory || isOwn);
    if (note !== null) notes.push(note);
  }
  return notes;
}

/** Or empty: nobody has anything in it. */
async function isOfDevice(directory: string): Promise<boolean> {
  const names = await readdir(directory);
  return names.length === 0 || names.includes(basename(identityFile(directory)));
}

function unwritable(directory: string, cause: unknown): CodedError {
  const isForeign = cause instanceof Error && 'code' in cause && cause.code === 'EACCES';
  const hint = isForeign
    ? `this server runs as user id ${process.geteuid?.()}: chown that directory to it`
    : diskError(cause)?.hint;
  const why = cause instanceof Error ? cause.message : String(cause);
  const message = `the data directory ${directory} cannot be written: ${why}`;
  return new CodedError('DISK_FAILED', message, { hint, details: { directory }, cause });
}

/**
 * Null when nobody else may do anything with it. Who can open the lock can hold it, and keep the
 * server from its start; who can read the key signs as this device. Throws FILE_UNFIT for a file of
 * somebody else's that cannot be closed.
 */
async function closeToOthers(path: string, isOwn: boolean): Promise<ModeNote | null> {
  const stats = await stat(path).catch(onlyMissing);
  if (stats === null || (stats.mode & 0o077) === 0) return null;
  const mode = (stats.mode & 0o7777).toString(8).padStart(4, '0');
  // A directory such as /tmp is everybody's on purpose.
  const isShared = (stats.mode & 0o1000) !== 0;
  if (isOwn && !isShared && (await tryChmod(path, stats.mode & 0o7700))) {
    return { path, mode, message: "others could open what is this device's alone: mode mended" };
  }
  if (stats.isFile()) requirePrivate(path, stats);
  return { path, mode, message: 'others may open the data directory: it should have mode 0700' };
}

function tryChmod(path: string, mode: number): Promise<boolean> {
  return chmod(path, mode).then(
    () => true,
    () => false,
  );
}
