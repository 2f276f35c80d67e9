// Brings a partition file of an earlier format to the present one, in one transaction.
import type Database from 'better-sqlite3';
import {
  columnsSinceFormat3,
  type MetaRow,
  metaChecksum,
  metaChecksumOfFormat1,
  schemaStatements,
  schemaVersion,
} from './schema.ts';

/** A file that is not exactly of its format is left as it is: readMeta says what is wrong with it. */
export function upgradeFile(db: Database.Database): void {
  const version = db.pragma('user_version', { simple: true });
  if (version !== 1 && version !== 2) return;
  db.transaction(() => {
    if (version === 1 && !addFloors(db)) return;
    addRecordColumns(db);
    db.pragma(`user_version = ${schemaVersion}`);
  })();
}

/** To format 2; false when the file is not of format 1. */
function addFloors(db: Database.Database): boolean {
  const [createMeta] = schemaStatements;
  const old = db.prepare<[], Omit<MetaRow, 'barrier_ms' | 'floor_ms'>>('SELECT * FROM meta').all();
  const [meta] = old;
  if (createMeta === undefined || meta === undefined || old.length !== 1) return false;
  if (meta.checksum !== metaChecksumOfFormat1(meta)) return false;
  const { checksum: _, ...fields } = { ...meta, barrier_ms: 0, floor_ms: 0 };
  db.exec('DROP TABLE meta');
  db.exec(createMeta);
  db.prepare(
    `INSERT INTO meta VALUES (1, @keyspace, @partition, @incarnation, @life, @state, @seq, @rows,
     @tombstones, @bytes, @digest, @highest_ms, @barrier_ms, @floor_ms, @checksum)`,
  ).run({ ...fields, checksum: metaChecksum(fields) });
  return true;
}

/** To format 3: no record of the file expires, and all hashes stay what they are. */
function addRecordColumns(db: Database.Database): void {
  for (const column of columnsSinceFormat3) db.exec(`ALTER TABLE records ADD COLUMN ${column}`);
  const has = db.prepare('SELECT 1 FROM sqlite_schema WHERE sql = ?').pluck();
  for (const statement of schemaStatements)
    if (has.get(statement) === undefined) db.exec(statement);
}
