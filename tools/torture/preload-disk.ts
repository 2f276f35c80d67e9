// The disk of a tortured server: syncs of the log that are slow or fail, no room, and power cuts.
import fs from 'node:fs';
import type { Control } from './control.ts';

/** Segments of the log that were written to here: how far, and how far it is certain. */
const segments = new Map<number, { written: number; synced: number }>();
const LIVE_WAL = /\/partitions\/[^/]+\/\d+\/[^/]+\/data\.db-wal$/;
const EIO = -5;
const FULL = { bavail: 0, bsize: 4_096 };

type Done = (error: NodeJS.ErrnoException | null) => void;

/** Takes the place of what the store calls; `node:module` has to publish it. */
export function breakDisk(control: () => Control): void {
  const { write, fdatasync } = fs;
  const { statfs } = fs.promises;
  let failed = false;
  const slowSync = (fd: number, done: Done): void => {
    const segment = segments.get(fd);
    const reached = segment?.written ?? 0;
    if (control().syncFails && !failed) {
      failed = true;
      const error = Object.assign(new Error('EIO: torture'), { errno: EIO, code: 'EIO' });
      setImmediate(() => done(error));
      return;
    }
    const sync = (): void =>
      fdatasync(fd, (error) => {
        if (error === null && segment !== undefined) {
          segment.synced = Math.max(segment.synced, reached);
        }
        done(error);
      });
    if (control().syncDelayMs > 0) setTimeout(sync, control().syncDelayMs);
    else sync();
  };
  // As the log calls it: (fd, buffer, offset, length, position, done).
  const notedWrite = (fd: number, ...rest: unknown[]): void => {
    const [, , length, position] = rest;
    if (typeof position === 'number') noteWrite(fd, position, Number(length));
    Reflect.apply(write, fs, [fd, ...rest]);
  };
  const roomLeft = async (place: string): Promise<unknown> =>
    control().diskFull ? FULL : statfs(place);
  Object.assign(fs, { write: notedWrite, fdatasync: slowSync });
  Object.assign(fs.promises, { statfs: roomLeft });
}

function noteWrite(fd: number, position: number, length: number): void {
  const known = segments.get(fd);
  // A lower position: the descriptor has gone to another segment.
  const segment =
    known === undefined || position < known.written
      ? { written: position, synced: position }
      : known;
  segment.written = position + length;
  segments.set(fd, segment);
}

/**
 * Takes away what a power loss may take: the unsynced end of the log, and of each WAL all behind
 * some share of it (SQLite syncs them at checkpoints only).
 */
export function forgetUnsynced(walShare: number): void {
  const wals = new Set<string>();
  for (const name of fs.readdirSync('/proc/self/fd')) {
    const fd = Number(name);
    const file = linkOf(fd);
    const segment = segments.get(fd);
    if (segment !== undefined && file.endsWith('.log')) fs.ftruncateSync(fd, segment.synced);
    if (LIVE_WAL.test(file)) wals.add(file);
  }
  for (const [index, wal] of [...wals].entries()) {
    const share = (walShare * (index + 1)) % 1;
    fs.truncateSync(wal, Math.floor(share * fs.statSync(wal).size));
  }
}

function linkOf(fd: number): string {
  try {
    return fs.readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return ''; // closed meanwhile, or the descriptor of this very listing
  }
}
