// Brings a partition file of an earlier format to the present one, in one transaction.
import type Database from 'better-sqlite3';
import {
  type MetaRow,
  metaChecksum,
  metaChecksumOfFormat1,
  schemaStatements,
  schemaVersion,
} from './schema.ts';

/** A file that is not exactly of format 1 is left as it is: readMeta says what is wrong with it. */
export function upgradeFile(db: Database.Database): void {
  if (db.pragma('user_version', { simple: true }) !== 1) return;
  const [createMeta] = schemaStatements;
  const old = db.prepare<[], Omit<MetaRow, 'barrier_ms' | 'floor_ms'>>('SELECT * FROM meta').all();
  const [meta] = old;
  if (createMeta === undefined || meta === undefined || old.length !== 1) return;
  if (meta.checksum !== metaChecksumOfFormat1(meta)) return;
  const { checksum: _, ...fields } = { ...meta, barrier_ms: 0, floor_ms: 0 };
  db.transaction(() => {
    db.exec('DROP TABLE meta');
    db.exec(createMeta);
    db.prepare(
      `INSERT INTO meta VALUES (1, @keyspace, @partition, @incarnation, @life, @state, @seq, @rows,
       @tombstones, @bytes, @digest, @highest_ms, @barrier_ms, @floor_ms, @checksum)`,
    ).run({ ...fields, checksum: metaChecksum(fields) });
    db.pragma(`user_version = ${schemaVersion}`);
  })();
}
