// Tests the checkpoints of a partition file. A simulated power loss leaves any mixture of synced
// and unsynced sectors in the file and its WAL.
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Random, seededRandom } from '@ringwright/base/random';
import { syncDirectory } from '@ringwright/node/durable-files';
import type Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { restoreWal } from './kept-wal.ts';
import { newPartitionBytes } from './new-partition-file.ts';
import { openSqlite } from './open-sqlite.ts';
import { PreparedStatements } from './partition-statements.ts';
import { PartitionWal } from './partition-wal.ts';

const ROWS = 200;
/** A disk writes a sector completely or not at all. */
const SECTOR_BYTES = 512;

interface Image {
  readonly file: Buffer;
  readonly wal: Buffer;
}

/** A partition file. Each transaction writes its number to `seq` and to all rows. */
class Subject {
  readonly directory = mkdtempSync(join(tmpdir(), 'partition-wal-'));
  readonly file = join(this.directory, 'data.db');
  /** These replace the syncs of a checkpoint. A sync is done when its function returns. */
  inPool: (fd: number) => void = () => undefined;
  here: (fd: number) => void = () => undefined;
  folder: (directory: string) => Promise<void> = () => Promise.resolve();
  round = 0;
  readonly db: Database.Database;
  readonly wal: PartitionWal;
  readonly syncs = {
    inPool: async (fd: number) => this.inPool(fd),
    blocking: (fd: number) => this.here(fd),
    folder: (directory: string) => this.folder(directory),
  };

  constructor() {
    const about = { keyspace: 'test', partition: 0, incarnation: 'one', life: 'one' };
    writeFileSync(this.file, newPartitionBytes({ ...about, state: 'ready' }));
    this.db = openSqlite(this.file);
    this.wal = new PartitionWal(new PreparedStatements(this.db), true, this.syncs);
  }

  write(): void {
    this.round += 1;
    const put = this.db.prepare(
      'INSERT OR REPLACE INTO records VALUES (?, ?, ?, 0, ?, ?, 0, 0, 0)',
    );
    this.wal.write(() => {
      for (let row = 1; row <= ROWS; row += 1) {
        const value = Buffer.alloc(50 + ((row * this.round) % 300), this.round);
        put.run(row, Buffer.from(`key-${row}`), this.round, value, Buffer.alloc(8));
      }
      this.db.prepare('UPDATE meta SET seq = ?').run(this.round);
    });
  }

  /** Reads the present bytes. This drops SQLite's locks, which are not tested here. */
  now(): Image {
    return { file: readFileSync(this.file), wal: readFileSync(`${this.file}-wal`) };
  }

  /** Expects that the file is sound, and returns the number of its last transaction. */
  roundOf(image: Image): number {
    const copy = join(this.directory, 'image.db');
    writeFileSync(copy, image.file);
    writeFileSync(`${copy}-wal`, image.wal);
    return roundIn(copy);
  }

  [Symbol.dispose](): void {
    if (this.db.open) this.db.close();
    rmSync(this.directory, { recursive: true });
  }
}

function roundIn(file: string): number {
  const db = openSqlite(file);
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
  const round = Number(db.prepare('SELECT seq FROM meta').pluck().get());
  const stamps = db.prepare('SELECT DISTINCT ms FROM records').pluck().all();
  expect(stamps).toEqual(round === 0 ? [] : [round]);
  db.close();
  return round;
}

/** Returns what a power loss may leave of the synced and the later unsynced bytes of a file. */
function torn(synced: Buffer, written: Buffer, random: Random): Buffer {
  const mixed = Buffer.alloc(random.below(2) === 0 ? synced.length : written.length);
  const cut = random.below(mixed.length + 1);
  const way = random.below(3);
  for (let at = 0; at < mixed.length; at += SECTOR_BYTES) {
    const isOld = way === 0 ? at < cut : way === 1 ? at >= cut : random.below(2) === 0;
    (isOld ? synced : written).subarray(at, at + SECTOR_BYTES).copy(mixed, at);
  }
  return mixed;
}

const seeds = Array.from({ length: 8 }, (_, at) => at + 1);

test.each(seeds)('a power loss at any time leaves a sound file, seed %i', async (seed) => {
  using subject = new Subject();
  const random = seededRandom(seed);
  let synced = subject.now();
  let checkpointed = 0;
  const lose = (): number => {
    const written = subject.now();
    const file = torn(synced.file, written.file, random);
    return subject.roundOf({ file, wal: torn(synced.wal, written.wal, random) });
  };
  for (let checkpoint = 0; checkpoint < 5; checkpoint += 1) {
    for (let writes = 1 + random.below(3); writes > 0; writes -= 1) {
      subject.write();
      // The WAL may lose newer transactions: the commit log has them.
      for (let times = 0; times < 6; times += 1) {
        expect(lose()).toBeGreaterThanOrEqual(checkpointed);
      }
    }
    let syncs = 0;
    subject.inPool = () => {
      const least = syncs === 0 ? checkpointed : subject.round;
      for (let times = 0; times < 6; times += 1) expect(lose()).toBeGreaterThanOrEqual(least);
      synced = syncs === 1 ? { ...synced, file: subject.now().file } : subject.now();
      syncs += 1;
    };
    expect([await subject.wal.checkpointInPool(), syncs]).toEqual([true, 3]);
    checkpointed = subject.round;
    // The file is now complete without its WAL.
    expect(subject.roundOf({ ...subject.now(), wal: Buffer.alloc(0) })).toBe(checkpointed);
  }
});

test.each([1, 2, 3])('a write during sync %i ends the checkpoint without loss', async (which) => {
  using subject = new Subject();
  subject.write();
  let syncs = 0;
  const waited: boolean[] = [];
  let before = subject.now();
  subject.here = () => void waited.push(subject.now().wal.equals(before.wal));
  subject.inPool = () => {
    syncs += 1;
    before = subject.now();
    if (syncs === which) subject.write();
  };
  expect(await subject.wal.checkpointInPool()).toBe(false);
  // During the second sync the file has all frames, and the write would restart the WAL. Before
  // that it syncs the file itself.
  expect(waited).toEqual(which === 2 ? [true] : []);
  expect(subject.roundOf(subject.now())).toBe(2);
  expect(await subject.wal.checkpointInPool()).toBe(true);
});

test.each([1, 2, 3])('a file that is closed during sync %i is complete', async (which) => {
  using subject = new Subject();
  subject.write();
  let syncs = 0;
  const waited: boolean[] = [];
  subject.here = () => void waited.push(existsSync(`${subject.file}-wal`));
  subject.inPool = () => {
    syncs += 1;
    if (syncs === which) subject.wal.close();
  };
  expect(await subject.wal.checkpointInPool()).toBe(false);
  expect(waited).toEqual(which === 2 ? [true] : []);
  expect(existsSync(`${subject.file}-wal`)).toBe(false);
  expect(roundIn(subject.file)).toBe(1);
});

test('the name of a WAL of a killed process is durable before the file is written', async () => {
  using subject = new Subject();
  subject.write();
  const left = readFileSync(subject.file);
  const reopened = new PartitionWal(new PreparedStatements(subject.db), false, subject.syncs);
  const named: string[] = [];
  subject.folder = async (directory) => {
    named.push(directory);
    expect(readFileSync(subject.file)).toEqual(left);
  };
  expect(await reopened.checkpointInPool()).toBe(true);
  expect(named).toEqual([subject.directory]);
  expect(readFileSync(subject.file)).not.toEqual(left);
});

test('a checkpoint ends without an error when its folder is moved away', async () => {
  using subject = new Subject();
  subject.write();
  subject.folder = async (directory) => {
    subject.wal.close();
    renameSync(directory, `${directory}-trash`);
    await syncDirectory(directory);
  };
  expect(await subject.wal.checkpointInPool()).toBe(false);
  renameSync(`${subject.directory}-trash`, subject.directory);
  expect(roundIn(subject.file)).toBe(1);
});

test('a checkpoint fails when the folder of the open file cannot be synced', async () => {
  using subject = new Subject();
  subject.write();
  subject.folder = () => syncDirectory(join(subject.directory, 'gone'));
  await expect(subject.wal.checkpointInPool()).rejects.toThrow('ENOENT');
});

test.each(['closed', 'killed'])(
  'after a failed sync of the file its WAL is kept for the next start, also when %s',
  async (how) => {
    using subject = new Subject();
    subject.write();
    const before = readFileSync(subject.file);
    let syncs = 0;
    subject.inPool = () => {
      syncs += 1;
      if (syncs === 2) throw new Error('EIO');
    };
    const failure = { code: 'STORE_FAILED', cause: expect.objectContaining({ message: 'EIO' }) };
    await expect(subject.wal.checkpointInPool()).rejects.toMatchObject(failure);
    // Linux reports a sync error once per descriptor: a second sync would report success.
    await expect(subject.wal.checkpointInPool()).rejects.toThrow('could not be synced');
    expect(() => subject.write()).toThrow('could not be synced');
    if (how === 'closed') subject.wal.close();
    const left = join(subject.directory, 'left.db');
    for (const tail of ['-wal', '-wal.kept']) {
      if (existsSync(subject.file + tail)) linkSync(subject.file + tail, left + tail);
    }
    // The disk has only some of the written sectors.
    writeFileSync(left, torn(before, readFileSync(subject.file), seededRandom(3)));
    restoreWal(left);
    expect(roundIn(left)).toBe(1);
    expect(existsSync(`${left}-wal.kept`)).toBe(false);
  },
);

test('a write during a checkpoint detects a failed sync through its own descriptor', async () => {
  using subject = new Subject();
  subject.write();
  const before = subject.now();
  const fds: number[] = [];
  subject.here = (fd) => {
    fds.push(fd);
    throw new Error('EIO');
  };
  subject.inPool = (fd) => {
    fds.push(fd);
    if (fds.length === 2) expect(() => subject.write()).toThrow('could not be synced');
  };
  expect(await subject.wal.checkpointInPool()).toBe(false);
  expect(new Set(fds).size).toBe(3);
  subject.wal.close();
  const kept = readFileSync(`${subject.file}-wal.kept`);
  expect(subject.roundOf({ file: before.file, wal: kept })).toBe(1);
});

test('an empty WAL stays empty, and SQLite checkpoints a WAL that cannot be opened', async () => {
  using subject = new Subject();
  subject.wal.checkpoint('TRUNCATE');
  expect(await subject.wal.checkpointInPool()).toBe(true);
  expect(subject.now().wal).toHaveLength(0);
  subject.write();
  rmSync(`${subject.file}-wal`);
  expect(await subject.wal.checkpointInPool()).toBe(false);
  expect(subject.wal.checkpoint('PASSIVE')).toBe(true);
  expect(roundIn(cloned(subject.file))).toBe(1);
});

/** Copies the file, so that the copy can be opened while the subject has the file open. */
function cloned(file: string): string {
  copyFileSync(file, `${file}.clone`);
  return `${file}.clone`;
}
