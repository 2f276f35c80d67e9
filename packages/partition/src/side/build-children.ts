// Builds the files of children out of copies of their parents' files, partitions that are split or
// merged, and merges what came meanwhile. Long and synchronous: the process beside the store runs
// it (side-program.ts).
import { closeSync, fdatasyncSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { must } from '@ringwright/base/assert';
import { auditMappedBytes, childCacheBytes, childSyncBytes } from '@ringwright/base/limits-copies';
import { partitionerOf } from '@ringwright/ring/partitioner/partition-of-key';
import type { Partitioner } from '@ringwright/ring/partitioner/partitioner';
import Database from 'better-sqlite3';
import { formatDigest, rowHashBytes } from '../file/digest.ts';
import { newTables, walVersion } from '../file/new-partition-file.ts';
import { openDataFile } from '../file/open-files.ts';
import { openUntrusted } from '../file/open-sqlite.ts';
import { readMeta } from '../file/partition-meta.ts';
import { PreparedStatements, storeCounters } from '../file/partition-statements.ts';
import { storedSince } from '../file/read-records.ts';
import { type MetaRow, withChecksum } from '../file/schema.ts';
import { countRow, newTally, type Tally, tallyColumns } from '../file/tally.ts';

export interface ChildToBuild {
  readonly partition: number;
  readonly incarnation: string;
  /** Created here. */
  readonly file: string;
}

export interface ChildrenToBuild {
  readonly keyspace: string;
  /** Maps a key to its child. Rows of children that are not listed are left out. */
  readonly partitioner: Partitioner;
  /** Files that nobody else has open, each with its WAL beside it, if any. */
  readonly parents: readonly string[];
  readonly children: readonly ChildToBuild[];
  /** A file that does not exist yet; worthless afterwards. */
  readonly scratch: string;
}

export interface BuiltChild {
  readonly partition: number;
  /** Including tombstones. */
  readonly rows: number;
  /** Bytes of values. */
  readonly bytes: number;
}

/**
 * Gives each child the rows of its keys, with their stamps and hashes, in sequence order, parent by
 * parent. SQLite moves the rows from file to file: JavaScript sees only a row's key and its
 * counters. Only complete files are synced. Throws when a parent lacks rows that it counts; no row
 * is compared with its hash here.
 */
export function buildChildren(work: ChildrenToBuild): BuiltChild[] {
  using cleanup = new DisposableStack();
  const db = cleanup.adopt(new Database(work.scratch), (one) => one.close());
  db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA trusted_schema = OFF');
  forBuilding(db, 'main');
  db.exec(`CREATE TABLE routes (child INTEGER, seq INTEGER, PRIMARY KEY (child, seq))
    STRICT, WITHOUT ROWID`);
  const tallies = new Map(work.children.map(({ partition }) => [partition, newTally()]));
  const routeRows = rowRouter(db, partitionerOf(work.partitioner), tallies);
  for (const child of work.children) makeFile(work.keyspace, child);
  for (const parent of work.parents) giveRows(db, { parent, children: work.children, routeRows });
  return work.children.map((child) =>
    finishFile(child, must(tallies.get(child.partition), 'each child has a tally')),
  );
}

/** Turns journal and syncs off: an incomplete file is worthless anyway. */
function forBuilding(db: Database.Database, schema: string): void {
  db.exec(`PRAGMA ${schema}.journal_mode = OFF; PRAGMA ${schema}.synchronous = OFF;
    PRAGMA ${schema}.cache_size = -${childCacheBytes / 1024}`);
}

/**
 * Fills `routes` with the rows of the attached parent and counts each for its child. Returns the
 * total.
 */
type RouteRows = () => Tally;

/** The child of rows that none of the listed children gets. */
const NOBODY = -1;

/** Hash and key are one blob: each blob costs as much as the rest of a call. */
type RowToRoute = [hashAndKey: Buffer, ms: number, valueBytes: number | null];

function rowRouter(
  db: Database.Database,
  childOf: (key: Uint8Array) => number,
  tallies: ReadonlyMap<number, Tally>,
): RouteRows {
  let total = newTally();
  db.function('child_of', { directOnly: true, varargs: true }, (...row: unknown[]) => {
    const [hashAndKey, ms, valueBytes] = row as RowToRoute;
    const hash = hashAndKey.subarray(0, rowHashBytes);
    const child = childOf(hashAndKey.subarray(rowHashBytes));
    const tally = tallies.get(child);
    countRow(total, { valueBytes, hash });
    if (tally === undefined) return NOBODY;
    countRow(tally, { valueBytes, hash });
    tally.highest_ms = Math.max(tally.highest_ms, ms);
    return child;
  });
  const emptyRoutes = db.prepare('DELETE FROM routes');
  return () => {
    total = newTally();
    emptyRoutes.run();
    db.exec(`INSERT INTO routes
      SELECT child_of(CAST(hash || key AS BLOB), ms, length(value)), seq FROM parent.records`);
    return total;
  };
}

/** Creates the file of a partition without records. */
function makeFile(keyspace: string, { partition, incarnation, file }: ChildToBuild): void {
  const identity = { keyspace, partition, incarnation, life: incarnation };
  using cleanup = new DisposableStack();
  const { make } = newTables({ ...identity, state: 'filling' });
  const empty = cleanup.adopt(make(), (one) => one.close());
  writeFileSync(file, empty.serialize(), { flag: 'wx', mode: 0o600 });
}

interface Giving {
  readonly parent: string;
  readonly children: readonly ChildToBuild[];
  readonly routeRows: RouteRows;
}

function giveRows(db: Database.Database, { parent, children, routeRows }: Giving): void {
  const meta = metaOf(parent);
  db.prepare('ATTACH ? AS parent').run(parent);
  db.exec(`PRAGMA parent.mmap_size = ${auditMappedBytes}`);
  const { rows, tombstones, digest } = routeRows();
  const [counted, recorded] = [
    `${rows} records, ${tombstones} deletions, digest ${formatDigest(digest)}`,
    `${meta.rows} records, ${meta.tombstones} deletions, digest ${meta.digest}`,
  ];
  if (counted !== recorded) throw new Error(`a parent has ${counted}, but counts ${recorded}`);
  const rowsAtOnce = Math.ceil(childSyncBytes / bytesOfRow(meta));
  for (const child of children) moveRows(db, child, rowsAtOnce);
  db.exec('DETACH parent');
}

/** Approximate bytes per row, with its part of the pages and of the index. */
function bytesOfRow({ bytes, rows, tombstones }: MetaRow): number {
  return 100 + bytes / Math.max(1, rows + tombstones);
}

/** Syncs in pieces, so that others who need the disk do not wait for everything. */
function moveRows(db: Database.Database, child: ChildToBuild, rowsAtOnce: number): void {
  const { partition, file } = child;
  using cleanup = new DisposableStack();
  const handle = cleanup.adopt(openSync(file, 'r+'), closeSync);
  db.prepare('ATTACH ? AS child').run(file);
  forBuilding(db, 'child');
  const numberOf = (sql: string) => db.prepare<unknown[], number>(sql).pluck();
  const seqBefore = numberOf('SELECT coalesce(max(seq), 0) FROM child.records').get() ?? 0;
  const lastOfPiece = numberOf(LAST_OF_PIECE);
  const move = db.prepare(MOVE_ROWS);
  for (let since = 0; ; ) {
    const last = lastOfPiece.get(partition, since, rowsAtOnce) ?? null;
    if (last === null) break;
    // The last piece is synced when the file is complete.
    if (since > 0) fdatasyncSync(handle);
    move.run(seqBefore, partition, since, last);
    since = last;
  }
  db.exec('DETACH child');
}

const LAST_OF_PIECE = `SELECT max(seq)
  FROM (SELECT seq FROM routes WHERE child = ? AND seq > ? ORDER BY seq LIMIT ?)`;

/** Sequences continue after those of the previous parent. */
const MOVE_ROWS = `INSERT INTO child.records
  (seq, key, ms, tie, value, hash, expires_ms, origin_ms, origin_tie)
  SELECT ? + row.seq, row.key, row.ms, row.tie, row.value, row.hash, row.expires_ms, row.origin_ms,
    row.origin_tie
  FROM routes CROSS JOIN parent.records AS row ON row.seq = routes.seq
  WHERE routes.child = ? AND routes.seq > ? AND routes.seq <= ? ORDER BY routes.seq`;

/** Reads the meta row; opening and closing the file moves its WAL into it. */
function metaOf(file: string): ReturnType<typeof readMeta> {
  using cleanup = new DisposableStack();
  const db = cleanup.adopt(openUntrusted(file), (one) => one.close());
  db.pragma('synchronous = OFF');
  return readMeta(db);
}

function finishFile({ partition, file }: ChildToBuild, tally: Tally): BuiltChild {
  const { rows, tombstones, bytes } = tally;
  storeTally(file, tally);
  markAndSync(file);
  return { partition, rows: rows + tombstones, bytes };
}

function storeTally(file: string, tally: Tally): void {
  using cleanup = new DisposableStack();
  const db = cleanup.adopt(new Database(file), (one) => one.close());
  db.exec('PRAGMA locking_mode = EXCLUSIVE');
  forBuilding(db, 'main');
  const lastSeq = db.prepare('SELECT coalesce(max(seq), 0) FROM records').pluck().get();
  const counters = tallyColumns({ ...tally, seq: Number(lastSeq) });
  storeCounters(new PreparedStatements(db), withChecksum({ ...readMeta(db), ...counters }));
}

/**
 * Marks the file as a WAL file, last of all, because SQLite opens a marked file with a WAL. Syncs
 * it here so that its adoption has little left to sync while new writes arrive that it has to
 * merge.
 */
function markAndSync(file: string): void {
  using cleanup = new DisposableStack();
  const handle = cleanup.adopt(openSync(file, 'r+'), closeSync);
  writeSync(handle, walVersion.bytes, 0, walVersion.bytes.length, walVersion.offset);
  fdatasyncSync(handle);
}

/** A row changes a few pages, so this is some 16 MiB. */
const ROWS_AT_ONCE = 1_024;

/** Files that nobody else has open, each with its WAL beside it, if any. */
export interface FilesToMerge {
  readonly from: string;
  /** Only rows above this sequence are merged. */
  readonly since: number;
  readonly into: string;
}

/** Keeps the newer row of each key, like a live file. Syncs `into`. Throws RECORD_DAMAGED. */
export function mergeFile({ from, since: first, into }: FilesToMerge): void {
  using cleanup = new DisposableStack();
  const source = cleanup.adopt(openDataFile(from), ({ wal }) => wal.discard());
  // Closed after the database, because closing it drops the database's locks.
  const handle = cleanup.adopt(openSync(into, 'r'), closeSync);
  const target = openDataFile(into);
  try {
    target.pageCache.limit(childCacheBytes);
    for (let [since, more] = [first, true]; more; ) {
      const bounds = { rowsMax: ROWS_AT_ONCE, bytesMax: childSyncBytes };
      const page = storedSince(source, since, bounds);
      target.apply(page.rows.map((row) => ({ ...row, isPreparedBallot: false })));
      target.flush();
      // Synced here in pieces, so that others who need the disk do not wait for everything.
      target.db.pragma('synchronous = OFF');
      if (!target.checkpoint('PASSIVE')) throw new Error(`${into} could not be checkpointed`);
      fdatasyncSync(handle);
      [since, more] = [page.lastSeq, page.more];
    }
  } finally {
    target.close();
  }
}
