// Tests copies of partition files from store to store: during writes, with wrong bytes, and after
// crashes and power losses.
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { valueBytesMax } from '@ringwright/base/limits';
import { heldWalBytesMax } from '@ringwright/base/limits-copies';
import Database from 'better-sqlite3';
import { expect, test, vi } from 'vitest';
import {
  copyPartition,
  cutWals,
  fill,
  type Scratch,
  scratch,
  textOf,
  write,
} from '../test/support/scratch-store.ts';
import { auditFile } from './audit/audit-partition-file.ts';
import { KeyedChecksum } from './audit/keyed-checksum.ts';
import type { CopyManifest } from './copy/copy-manifest.ts';
import type { Snapshot } from './copy/snapshot.ts';
import { OpenFiles } from './file/open-files.ts';
import { PartitionFile } from './file/partition-file.ts';
import { PartitionWal } from './file/partition-wal.ts';
import { pageBytes } from './file/schema.ts';
import { openStore } from './open-store.ts';
import { SideProcess } from './side/side-process.ts';
import type { Store } from './store.ts';

async function bytesOf(store: Store): Promise<{ manifest: CopyManifest; file: Buffer }> {
  await using snapshot = await store.snapshot('test', 0);
  const { manifest } = snapshot;
  const chunks: Buffer[] = [];
  for (let at = 0; at < manifest.bytes; at += 65_536) {
    chunks.push(await snapshot.readChunk(at, 65_536));
  }
  return { manifest, file: Buffer.concat(chunks) };
}

async function receive(store: Store, manifest: CopyManifest, file: Buffer): Promise<void> {
  await using incoming = await store.receiveCopy('test', 0, manifest);
  await incoming.write(0, file);
  await incoming.finish();
}

function checksumOf(bytes: Buffer): string {
  const checksum = KeyedChecksum.begin();
  checksum.take(bytes);
  return checksum.text();
}

test('a 64 MiB copy during writes is equal and blocks the event loop only briefly', async () => {
  await using from = scratch();
  await using to = scratch();
  const source = await from.openReady();
  const target = await to.open();
  await target.create('test', 0, 'filling');
  await fill(source, 64_000, 1_000);
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  let writing = true;
  let ms = 1_000_000;
  const writer = async (): Promise<void> => {
    while (writing) {
      const writes = Array.from({ length: 20 }, (_, i) => {
        ms += 1;
        return write(`key-${(ms * 7_919 + i) % 70_000}`, i % 5 === 0 ? null : `new ${ms}`, ms);
      });
      await Promise.all([source.write(writes), target.write(writes)]);
    }
  };
  const writers = [writer(), writer(), writer()];
  const startedMs = performance.now();
  await copyPartition(source, target);
  const copyMs = performance.now() - startedMs;
  writing = false;
  await Promise.all(writers);
  // The limit is a fraction of the copy's own duration: a busy machine makes both longer.
  expect(delay.max / 1e6).toBeLessThan(copyMs / 4);
  const [mine, theirs] = [source.info('test', 0), target.info('test', 0)];
  expect(theirs).toMatchObject({ digest: mine?.digest, rows: mine?.rows, state: 'filling' });
  expect(readdirSync(join(to.directory, 'staging'))).toEqual([]);
  await using image = to.image();
  cutWals(image.directory, () => 0);
  expect((await image.open()).info('test', 0)?.digest).toBe(mine?.digest);
}, 120_000);

test('the side process copies a file, unless a checkpoint runs meanwhile or it dies', async () => {
  await using place = scratch();
  const store = await place.openReady();
  await fill(store, 12_000, 1_000);
  const backup = vi.spyOn(Database.prototype, 'backup');
  const audited = async (snapshot: Snapshot): Promise<void> => {
    expect(auditFile(snapshot.file).findings).toEqual([]);
    const { seq, digest } = store.info('test', 0)!;
    expect(snapshot.manifest).toMatchObject({ seq, digest });
    await snapshot.release();
  };
  await audited(await store.snapshot('test', 0));
  expect(backup).toHaveBeenCalledTimes(0);
  const copy = vi.spyOn(SideProcess.prototype, 'copy');
  try {
    const toEnd = Promise.withResolvers<void>();
    const copied = Promise.withResolvers<void>();
    copy.mockImplementationOnce(async function (this: SideProcess, from, to) {
      const done = await this.copy(from, to);
      copied.resolve();
      await toEnd.promise;
      return done;
    });
    const taking = store.snapshot('test', 0);
    await copied.promise;
    // So much WAL forces a checkpoint into the file: what was copied cannot be trusted.
    const long = 'x'.repeat(valueBytesMax);
    for (let bytes = 0, i = 0; bytes <= 2 * heldWalBytesMax; bytes += valueBytesMax, i += 1) {
      await store.write([write(`long-${i}`, long, i + 1)]);
    }
    toEnd.resolve();
    await audited(await taking);
    expect(backup).toHaveBeenCalledTimes(1);
    copy.mockRejectedValueOnce(new Error('the process was killed'));
    await audited(await store.snapshot('test', 0));
    expect(backup).toHaveBeenCalledTimes(2);
  } finally {
    copy.mockRestore();
    backup.mockRestore();
  }
});

test('a sync that fails before a copy fails the store for all later calls', async () => {
  await using place = scratch();
  const { directory } = place;
  const store = await openStore({ directory, newIncarnation: randomUUID });
  await store.create('test', 0, 'ready');
  await store.write([write('a', 'one', 1)]);
  const checkpoint = vi.spyOn(PartitionFile.prototype, 'checkpoint').mockImplementation(() => {
    throw new Database.SqliteError('disk I/O error', 'SQLITE_IOERR_FSYNC');
  });
  const message = expect.stringContaining('data.db: disk I/O error');
  const failure = expect.objectContaining({ code: 'STORE_FAILED', message });
  await expect(store.snapshot('test', 0)).rejects.toEqual(failure);
  checkpoint.mockRestore();
  await expect(store.write([write('a', 'two', 2)])).rejects.toEqual(failure);
  await expect(store.close()).rejects.toEqual(failure);
  expect(textOf(await place.open(), 'a')).toBe('one');
});

test('a snapshot that begins just before close is refused', async () => {
  await using place = scratch();
  const store = await place.openReady();
  const snapshot = store.snapshot('test', 0);
  const closed = store.close();
  await expect(snapshot).rejects.toEqual(expect.objectContaining({ code: 'STORE_CLOSED' }));
  await closed;
  await (await place.open()).close();
});

test('a snapshot is refused as absent when its partition is dropped meanwhile', async () => {
  await using place = scratch();
  const store = await place.open();
  // On a busy disk the snapshot may be complete before the drop has synced the file.
  let refused = 0;
  for (let tries = 0; tries < 50 && refused === 0; tries += 1) {
    await store.create('test', 0, 'ready');
    await fill(store, 10, 100);
    const taking = store.snapshot('test', 0).then(
      (snapshot) => snapshot.release(),
      (error: unknown) => {
        expect(error).toMatchObject({ code: 'PARTITION_ABSENT' });
        refused += 1;
      },
    );
    await store.drop('test', 0);
    await taking;
  }
  expect(refused).toBe(1);
  expect(readdirSync(join(place.directory, 'staging'))).toEqual([]);
});

test('a copy that does not match its manifest is refused, and the live file stays', async () => {
  await using from = scratch();
  await using to = scratch();
  const source = await from.openReady();
  const target = await to.open();
  await target.create('test', 0, 'filling');
  // All records fit on one page: a page split would leave stale bytes, where a flip has no effect.
  await fill(source, 6, 50);
  await target.write([write('mine', 'kept', 5)]);
  const before = target.info('test', 0);
  const { manifest, file } = await bytesOf(source);
  const described = (bytes: Buffer): CopyManifest => ({
    ...manifest,
    bytes: bytes.length,
    seal: checksumOf(bytes),
  });
  const flipped = Buffer.from(file);
  flipped[file.indexOf('xxxxx')] = 0x79;
  const half = file.subarray(0, 4 * pageBytes);
  expect(half.length).toBeLessThan(file.length);
  const cases: [what: string, manifest: CopyManifest, bytes: Buffer][] = [
    ['a flipped byte', manifest, flipped],
    ['a flipped byte with a matching checksum', described(flipped), flipped],
    ['a short file', manifest, file.subarray(0, -1)],
    ['a long file', manifest, Buffer.concat([file, Buffer.alloc(1)])],
    ['half a file with a matching checksum', described(half), half],
    ['no database', described(Buffer.alloc(8_192, 1)), Buffer.alloc(8_192, 1)],
    ['another sequence', { ...manifest, seq: manifest.seq + 1 }, file],
    ['another digest', { ...manifest, digest: '0'.repeat(16) }, file],
    ['another count', { ...manifest, rows: manifest.rows - 1 }, file],
    ['another partition', { ...manifest, partition: 1 }, file],
    ['no digest', { ...manifest, digest: 'x' }, file],
    ['negative bytes', { ...manifest, bytes: -1 }, file],
    ['an absurd length', { ...manifest, bytes: 2 ** 50 }, file],
  ];
  for (const sql of [
    'CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM records; END',
    'CREATE VIEW v AS SELECT * FROM records',
    "UPDATE records SET value = x'00' WHERE seq = 3",
    'UPDATE meta SET rows = rows + 1',
    'PRAGMA user_version = 99',
    'PRAGMA application_id = 1',
    'DELETE FROM meta',
  ]) {
    cases.push([sql, ...changed(sql)]);
  }
  function changed(sql: string): [CopyManifest, Buffer] {
    const path = join(from.directory, 'changed.db');
    writeFileSync(path, file);
    const db = new Database(path);
    db.exec(sql);
    db.close();
    const bytes = readFileSync(path);
    return [described(bytes), bytes];
  }
  for (const [what, wrong, bytes] of cases) {
    const answer = await receive(target, wrong, bytes).then(
      () => 'taken',
      (error: { code: string }) => error.code,
    );
    expect(answer, what).toBe('COPY_INVALID');
    expect(target.info('test', 0), what).toEqual(before);
    expect(readdirSync(join(to.directory, 'staging')), what).toEqual([]);
  }
  await receive(target, manifest, file);
  expect(textOf(target, 'mine')).toBe('kept');
  expect(target.info('test', 0)).toMatchObject({ rows: 7 });
}, 60_000);

test('chunks that are out of order, repeated or too long are refused', async () => {
  await using from = scratch();
  const source = await from.openReady();
  const { manifest, file } = await bytesOf(source);
  await using incoming = await source.receiveCopy('test', 0, manifest);
  await incoming.write(0, file.subarray(0, 100));
  for (const [offset, length] of [
    [0, 100],
    [200, 1],
    [99, 10],
    [100, file.length],
    [-1, 1],
  ] as const) {
    const chunk = Buffer.alloc(length);
    await expect(incoming.write(offset, chunk)).rejects.toMatchObject({ code: 'COPY_INVALID' });
  }
  await incoming.write(100, file.subarray(100));
  await incoming.discard();
  await expect(incoming.finish()).rejects.toMatchObject({
    code: 'COPY_INVALID',
  });
});

test('a crash before or after the switch of files leaves exactly one complete file', async () => {
  await using from = scratch();
  await using to = scratch();
  const source = await from.openReady();
  const target = await to.open();
  await target.create('test', 0, 'ready');
  await fill(source, 30, 50);
  await target.write([write('mine', 'kept', 5)]);
  const home = join(to.directory, 'partitions/test/0');
  const [old = ''] = readdirSync(home).filter((name) => name !== 'CURRENT');
  await using before = to.image();
  await copyPartition(source, target);
  await target.write([write('later', 'kept', 9_000)]);
  await using after = to.image();
  // Before the switch, the copy is beside the live file and CURRENT.new is half written.
  const beside = join(before.directory, 'partitions/test/0');
  mkdirSync(join(beside, 'half-adopted'));
  writeFileSync(join(beside, 'half-adopted/data.db'), 'half a file');
  writeFileSync(join(beside, 'CURRENT.new'), 'half-ado');
  cutWals(before.directory, () => 0);
  const early = await before.open();
  expect(early.info('test', 0)).toMatchObject({ incarnation: old, rows: 1 });
  expect(readdirSync(beside).sort()).toEqual([old, 'CURRENT'].sort());
  // After the switch, the old folder still exists.
  mkdirSync(join(after.directory, 'partitions/test/0', old));
  cutWals(after.directory, () => 0);
  const late = await after.open();
  expect(late.info('test', 0)).toMatchObject({ rows: 32, digest: target.info('test', 0)?.digest });
  expect(textOf(late, 'later')).toBe('kept');
  expect(existsSync(join(after.directory, 'partitions/test/0', old))).toBe(false);
});

test('writes and promises during the adoption of copies survive a power loss', async () => {
  await using from = scratch();
  await using to = scratch();
  const source = await from.open();
  // With these limits, segments are removed and the live file is checkpointed all the time.
  const limits = { logSegmentBytesMax: 4_096, logSegmentsBehindMax: 0, walBytesMax: 16_384 };
  const target = await to.open(limits);
  await source.create('test', 0, 'ready');
  await target.create('test', 0, 'ready');
  await fill(source, 200, 50);
  const promise = { ...write('promised there', null, 70), isPreparedBallot: true };
  await source.write([promise]);
  await target.write([{ ...write('promised here', null, 60), isPreparedBallot: true }]);
  const acknowledged: string[] = [];
  let isAdopting = true;
  const writing = (async () => {
    for (let i = 0; isAdopting; i += 1) {
      const keys = Array.from({ length: 5 }, (_, j) => `mine-${i}-${j}`);
      // More bytes than fit into a segment.
      await target.write(keys.map((key) => write(key, 'x'.repeat(1_000), 100 + i)));
      acknowledged.push(...keys);
    }
  })();
  const images: { image: Scratch; known: readonly string[] }[] = [];
  const take = (): void => void images.push({ image: to.image(), known: [...acknowledged] });
  // Images are taken between the switch on disk and the switch in memory, and right after both.
  const { value: replace } = Object.getOwnPropertyDescriptor(OpenFiles.prototype, 'replace')!;
  const replacing = vi.spyOn(OpenFiles.prototype, 'replace');
  const discarding = vi.spyOn(PartitionWal.prototype, 'discard').mockImplementation(() => take());
  try {
    for (let round = 0; round < 3; round += 1) {
      replacing.mockImplementationOnce(function (this: OpenFiles, ...about) {
        take();
        Reflect.apply(replace as OpenFiles['replace'], this, about);
      });
      await copyPartition(source, target);
    }
  } finally {
    replacing.mockRestore();
    discarding.mockRestore();
    isAdopting = false;
  }
  await writing;
  const present = target.info('test', 0);
  for (const { image, known } of images) {
    cutWals(image.directory, () => 0);
    const reopened = await image.open();
    expect(reopened.damaged()).toEqual([]);
    expect(known.filter((key) => textOf(reopened, key) === undefined)).toEqual([]);
    expect(textOf(reopened, 'key-199')).toBe('x'.repeat(50));
    expect(reopened.preparedBallots('test', 0).map(({ key }) => String(key))).toContain(
      'promised here',
    );
  }
  const last = images.at(-1)?.known ?? [];
  expect(images[0]?.known.length).toBeLessThan(last.length);
  expect(target.preparedBallots('test', 0)).toHaveLength(2);
  expect(present).toMatchObject({ rows: 200 + acknowledged.length });
});

test('a file without writes is not opened, and neither is the copy that replaces it', async () => {
  await using from = scratch();
  await using to = scratch();
  const source = await from.openReady();
  const target = await to.open();
  await fill(source, 30, 50);
  const opening = vi.spyOn(OpenFiles.prototype, 'replace');
  try {
    const made = await target.create('test', 0, 'filling');
    expect(target.info('test', 0)).toEqual(made);
    expect(opening).toHaveBeenCalledTimes(0);
    await using beside = to.image();
    expect((await beside.open()).info('test', 0)).toEqual(made);
    opening.mockClear();
    await copyPartition(source, target);
    expect(opening).toHaveBeenCalledTimes(0);
  } finally {
    opening.mockRestore();
  }
  const { rows, digest } = source.info('test', 0)!;
  expect(target.info('test', 0)).toMatchObject({ rows, digest, state: 'filling' });
  await target.setState('test', 0, 'ready');
  await using after = to.image();
  cutWals(after.directory, () => 0);
  expect((await after.open()).info('test', 0)).toEqual(target.info('test', 0));
});

test('a partition that is dropped while its copy is finished stays dropped', async () => {
  await using from = scratch();
  const source = await from.openReady();
  await fill(source, 2_000, 100);
  const { manifest, file } = await bytesOf(source);
  const incoming = await source.receiveCopy('test', 0, manifest);
  await incoming.write(0, file);
  const finished = incoming.finish();
  await source.drop('test', 0);
  await expect(finished).rejects.toMatchObject({ code: 'PARTITION_ABSENT' });
  expect(source.info('test', 0)).toBeNull();
  expect(readdirSync(join(from.directory, 'staging'))).toEqual([]);
});
