// Checks the data directory of a device before anything in it is opened: it exists, is writable,
// and belongs to this device.
import { constants, existsSync } from 'node:fs';
import { access, chmod, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { diskError } from '@ringwright/base/disk-error';
import { codeOf, messageOf } from '@ringwright/base/thrown';
import { makeDirectoryPath } from '@ringwright/node/durable-files';
import { nullIfMissing } from '@ringwright/node/missing-file';
import { requirePrivate } from '@ringwright/node/read-regular-file';
import { dataPaths } from '@ringwright/partition/file/data-paths';
import { identityFile } from './device-identity.ts';
import { deviceKeyFile } from './device-key.ts';

/** A line for the log: the mode that was found, and what was done about it. */
interface ModeNote {
  readonly path: string;
  readonly mode: string;
  readonly message: string;
}

/**
 * Creates the directory if it does not exist. Removes the permissions of other users, and reports
 * that. Throws DATA_DIR_NOT_MOUNTED, DATA_DIR_FOREIGN, and DISK_FAILED if the directory cannot be
 * created or written.
 */
export async function prepareDataDirectory(
  directory: string,
  { mountCheck }: { readonly mountCheck: boolean },
): Promise<ModeNote[]> {
  if (mountCheck) await requireMountPoint(directory);
  let names: readonly string[];
  try {
    await makeDirectoryPath(directory, 0o700);
    names = await readdir(directory);
    await access(directory, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw unwritable(directory, cause);
  }
  requireOwn(directory, names);
  const notes: ModeNote[] = [];
  for (const path of [directory, dataPaths.lock(directory), deviceKeyFile(directory)]) {
    const note = await closeToOthers(path);
    if (note !== null) notes.push(note);
  }
  return notes;
}

/** From a fresh file system, from a first start that was killed, or a key kept for a new disk. */
const harmlessNames: ReadonlySet<string> = new Set([
  'lost+found',
  'device.json.new',
  'device-key.pem',
]);
const FOREIGN_NAMES_SHOWN_MAX = 3;

/**
 * Refuses a mistyped path, and a device's directory without its device.json: as a new device it
 * would report that it was wiped, although its files say otherwise.
 */
function requireOwn(directory: string, names: readonly string[]): void {
  const identity = basename(identityFile(directory));
  const foreign = names.filter((name) => !harmlessNames.has(name)).sort();
  if (foreign.length === 0 || names.includes(identity)) return;
  const shownNames = foreign.slice(0, FOREIGN_NAMES_SHOWN_MAX).join(', ');
  const more = foreign.length > FOREIGN_NAMES_SHOWN_MAX ? ', …' : '';
  const message = `${directory} is not a data directory: no ${identity}, but ${shownNames}${more}`;
  throw new CodedError('DATA_DIR_FOREIGN', message, {
    hint: `--data takes an empty directory or that of a device; if ${identity} was deleted, restore it`,
    details: { directory, names: foreign.slice(0, FOREIGN_NAMES_SHOWN_MAX) },
  });
}

function unwritable(directory: string, cause: unknown): CodedError {
  const isForeign = codeOf(cause) === 'EACCES';
  const mend = existsSync(directory)
    ? 'chown that directory to this user'
    : 'create that directory, and chown it to this user';
  const hint = isForeign
    ? `this server runs as user id ${process.geteuid?.()}: ${mend}`
    : diskError(cause)?.hint;
  const why = messageOf(cause);
  const message = `the data directory ${directory} cannot be written: ${why}`;
  return new CodedError('DISK_FAILED', message, { hint, details: { directory }, cause });
}

/**
 * Returns null if other users have no access. A user who can open the lock can hold it and keep the
 * server from starting; one who can read the key can sign as this device. Throws FILE_UNFIT for a
 * file of another user that cannot be closed to others.
 */
async function closeToOthers(path: string): Promise<ModeNote | null> {
  const stats = await stat(path).catch(nullIfMissing);
  if (stats === null || (stats.mode & 0o077) === 0) return null;
  const mode = (stats.mode & 0o7777).toString(8).padStart(4, '0');
  // A directory such as /tmp is open to everybody on purpose.
  const isShared = (stats.mode & 0o1000) !== 0;
  if (!isShared && (await tryChmod(path, stats.mode & 0o7700))) {
    return {
      path,
      mode,
      message: 'other users had access to private data of this device: mode corrected',
    };
  }
  if (stats.isFile()) requirePrivate(path, stats);
  return {
    path,
    mode,
    message: 'other users have access to the data directory: it should have mode 0700',
  };
}

function tryChmod(path: string, mode: number): Promise<boolean> {
  return chmod(path, mode).then(
    () => true,
    () => false,
  );
}

/**
 * Throws DATA_DIR_NOT_MOUNTED, also if there is no such directory. If a disk is not mounted, its
 * empty mount point would be filled, and the machine's own disk with it (Swift's mount_check).
 */
async function requireMountPoint(directory: string): Promise<void> {
  const real = await realpath(directory).catch(() => null);
  if (real !== null && (await mountPoints()).has(real)) return;
  const why = real === null ? 'does not exist' : 'is not a mount point of its own';
  throw new CodedError('DATA_DIR_NOT_MOUNTED', `${directory} ${why}: its disk is not mounted`, {
    hint: `findmnt ${directory} shows what is; mount the disk there, or leave out --mount-check`,
    details: { directory },
  });
}

/** Returns the mount points that the kernel lists for this process; see proc_pid_mountinfo(5). */
async function mountPoints(): Promise<ReadonlySet<string>> {
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n');
  return new Set(lines.map((line) => unescapePath(line.split(' ')[4] ?? '')));
}

/** Spaces and similar characters are written as a backslash and three octal digits. */
function unescapePath(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
}
