// Reads and validates the meta row of a partition file before anything else in the file is trusted.
import { CodedError } from '@ringwright/base/coded-error';
import { partitionCountMax } from '@ringwright/base/limits';
import type Database from 'better-sqlite3';
import { isIncarnation, isKeyspace } from './data-paths.ts';
import { type Digest, formatDigest, parseDigest } from './digest.ts';
import {
  type PartitionInfo,
  type PartitionMarks,
  type PartitionState,
  partitionStates,
} from './partition-info.ts';
import {
  applicationId,
  type MetaRow,
  metaChecksum,
  schemaStatements,
  schemaVersion,
} from './schema.ts';
import type { Tally } from './tally.ts';

const COUNTERS = [
  'seq',
  'rows',
  'tombstones',
  'bytes',
  'highest_ms',
  'barrier_ms',
  'floor_ms',
] as const;

/** Throws PARTITION_DAMAGED when the file is of another kind, format or shape. */
export function readMeta(db: Database.Database): MetaRow {
  const wrong = (fault: string): CodedError =>
    new CodedError('PARTITION_DAMAGED', `${db.name}: ${fault}`, { details: { file: db.name } });
  const id = db.pragma('application_id', { simple: true });
  if (id !== applicationId) throw wrong(`application id ${String(id)}, expected ${applicationId}`);
  const version = db.pragma('user_version', { simple: true });
  if (version !== schemaVersion) {
    throw wrong(`format ${String(version)}, this program knows ${schemaVersion}`);
  }
  const found = db
    .prepare('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name')
    .pluck()
    .all();
  if (found.join('\n') !== schemaStatements.join('\n'))
    throw wrong('its tables are not those of a partition file');
  const rows = db.prepare<[], MetaRow>('SELECT * FROM meta').all();
  const meta = rows[0];
  if (meta === undefined || rows.length !== 1)
    throw wrong(`${rows.length} rows in meta, expected 1`);
  const problem = metaProblem(meta);
  if (problem !== null) throw wrong(problem);
  return meta;
}

export function marksOf({ state, barrier_ms, floor_ms }: MetaRow): PartitionMarks {
  // readMeta accepts no other state.
  return { state: state as PartitionState, barrierMs: barrier_ms, floorMs: floor_ms };
}

/** Combines the meta row with counters that may be ahead of it. */
export function infoOf(meta: MetaRow, tally: Tally): PartitionInfo {
  const { keyspace, partition, incarnation } = meta;
  const { seq, rows, tombstones, bytes } = tally;
  const digest = formatDigest(tally.digest);
  const counts = { seq, rows, tombstones, bytes, digest };
  return { keyspace, partition, incarnation, ...marksOf(meta), ...counts };
}

/** Caches infoOf, which is called often for files that seldom change. */
export class LatestInfo {
  #latest: {
    readonly meta: MetaRow;
    readonly digest: Digest;
    readonly info: PartitionInfo;
  } | null = null;

  of(meta: MetaRow, tally: Tally): PartitionInfo {
    // The digest is a new object after each row.
    const { digest } = tally;
    const latest = this.#latest;
    if (latest?.meta === meta && latest.digest === digest) return latest.info;
    const info = infoOf(meta, tally);
    this.#latest = { meta, digest, info };
    return info;
  }
}

function metaProblem(meta: MetaRow): string | null {
  if (!isKeyspace(meta.keyspace)) return 'its keyspace is not a valid name';
  if (!(meta.partition >= 0 && meta.partition < partitionCountMax))
    return 'its partition number is out of range';
  if (!isIncarnation(meta.incarnation)) return 'its incarnation is not an id';
  if (!isIncarnation(meta.life)) return 'its life is not an id';
  if (!partitionStates.some((state) => state === meta.state)) return `state ${meta.state}`;
  if (parseDigest(meta.digest) === null) return 'its digest is invalid';
  for (const name of COUNTERS) {
    if (!Number.isSafeInteger(meta[name]) || meta[name] < 0) return `${name} is ${meta[name]}`;
  }
  if (meta.rows + meta.tombstones > meta.seq) return 'it counts more rows than sequence numbers';
  if (meta.floor_ms > meta.barrier_ms) return 'its floor is above its barrier';
  if (meta.checksum !== metaChecksum(meta)) return 'its meta row does not match its checksum';
  return null;
}
