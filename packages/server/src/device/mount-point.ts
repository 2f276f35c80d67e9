// Whether a file system is mounted at a directory: an empty folder left behind by a disk that is
// not there would be filled, and the machine's own disk with it (Swift's mount_check).
import { readFile, realpath } from 'node:fs/promises';
import { CodedError } from '@ringwright/base/coded-error';

/** Throws DATA_DIR_NOT_MOUNTED, also where there is no such directory. */
export async function requireMountPoint(directory: string): Promise<void> {
  const real = await realpath(directory).catch(() => null);
  if (real !== null && (await mountPoints()).has(real)) return;
  const why = real === null ? 'is not there' : 'is not a mount point of its own';
  throw new CodedError('DATA_DIR_NOT_MOUNTED', `${directory} ${why}: its disk is not mounted`, {
    hint: `findmnt ${directory} shows what is; mount the disk there, or leave out --mount-check`,
    details: { directory },
  });
}

/** As the kernel lists them for this process; see proc_pid_mountinfo(5). */
async function mountPoints(): Promise<ReadonlySet<string>> {
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n');
  return new Set(lines.map((line) => unescapePath(line.split(' ')[4] ?? '')));
}

/** Blanks and the like are written as a backslash and three octal digits. */
function unescapePath(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
}
