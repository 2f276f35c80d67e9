// The disk of a tortured server: slow or failing syncs of the log, a full disk, and power cuts.
import fs from 'node:fs';
import path from 'node:path';
import type { Control } from './control.ts';
import { isInFile } from './wal-frames.ts';

/** Log segments written here: how far they are written, and how far they are durable. */
const segments = new Map<number, { written: number; synced: number }>();
const LIVE_WAL = /\/partitions\/[^/]+\/\d+\/[^/]+\/data\.db-wal$/;
const LIVE_FILE = /\/partitions\/[^/]+\/\d+\/[^/]+\/data\.db$/;
const EIO = -5;
const FULL = { bavail: 0, bsize: 4_096 };

type Done = (error: NodeJS.ErrnoException | null, written: number) => void;

/** Replaces the functions that the store calls; `node:module` must publish them. */
export function breakDisk(control: () => Control): void {
  const { write, writev } = fs;
  const { statfs } = fs.promises;
  let failed = false;
  /** Wraps a write that is durable when it returns (O_DSYNC). */
  const durably = (fd: number, reached: number, done: Done): Done => {
    const segment = segments.get(fd);
    return (error, written) => {
      if (control().syncFails && !failed) {
        failed = true;
        done(Object.assign(new Error('EIO: torture'), { errno: EIO, code: 'EIO' }), 0);
        return;
      }
      const synced = (): void => {
        if (error === null && segment !== undefined) {
          segment.synced = Math.max(segment.synced, reached);
        }
        done(error, written);
      };
      if (control().syncDelayMs > 0) setTimeout(synced, control().syncDelayMs);
      else synced();
    };
  };
  // The log calls it as (fd, buffer, offset, length, position, done).
  const slowWrite = (fd: number, ...rest: unknown[]): void => {
    const [buffer, offset, length, position, done] = rest;
    if (typeof position !== 'number') {
      Reflect.apply(write, fs, [fd, ...rest]);
      return;
    }
    const reached = noteWrite(fd, position, Number(length));
    const wrapped = durably(fd, reached, done as Done);
    Reflect.apply(write, fs, [fd, buffer, offset, length, position, wrapped]);
  };
  // The log calls it with a frame, and zeros that may be written or not.
  const slowWritev = (fd: number, ...rest: [Buffer[], number, Done]): void => {
    const [pieces, position, done] = rest;
    const reached = noteWrite(fd, position, pieces[0]?.length ?? 0);
    writev(fd, pieces, position, durably(fd, reached, done));
  };
  const roomLeft = async (folder: string): Promise<unknown> =>
    control().diskFull ? FULL : statfs(folder);
  Object.assign(fs, { write: slowWrite, writev: slowWritev });
  Object.assign(fs.promises, { statfs: roomLeft });
}

/** Records a frame, and returns where it ends. */
function noteWrite(fd: number, position: number, length: number): number {
  const known = segments.get(fd);
  // A lower position means that the descriptor now belongs to another segment.
  const segment =
    known === undefined || position < known.written
      ? { written: position, synced: position }
      : known;
  segment.written = position + length;
  segments.set(fd, segment);
  return segment.written;
}

/**
 * Removes what a power loss may remove: the unsynced end of the log, the part of each WAL beyond
 * some share of it, and folders that do not count yet. The checkpoint that moves a WAL into the
 * file syncs it first; after that no part of it can be lost.
 */
export function forgetUnsynced(walShare: number): void {
  const wals = new Set<string>();
  for (const name of fs.readdirSync('/proc/self/fd')) {
    const fd = Number(name);
    const file = linkOf(fd);
    const segment = segments.get(fd);
    if (segment !== undefined && file.endsWith('.log')) {
      const { size } = fs.fstatSync(fd);
      fs.ftruncateSync(fd, segment.synced);
      fs.ftruncateSync(fd, size); // the zeros that were there before
    }
    if (LIVE_WAL.test(file) && !isInFile(file)) wals.add(file);
    if (LIVE_FILE.test(file)) tearNewFolder(file);
  }
  for (const [index, wal] of [...wals].entries()) {
    const share = (walShare * (index + 1)) % 1;
    fs.truncateSync(wal, Math.floor(share * fs.statSync(wal).size));
  }
}

/** Nothing in this folder was synced: neither its names nor the pages of its file. */
function tearNewFolder(file: string): void {
  const current = path.join(path.dirname(path.dirname(file)), 'CURRENT');
  if (!fs.existsSync(current) || !fs.readFileSync(current, 'utf8').startsWith('new ')) return;
  fs.rmSync(current);
  fs.truncateSync(file, 5_000);
}

function linkOf(fd: number): string {
  try {
    return fs.readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return ''; // closed meanwhile, or the descriptor of this very listing
  }
}
