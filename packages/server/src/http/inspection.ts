// Counts what a data directory holds, of a running store or of one opened for inspection. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { inspectedRecordsMax } from '@ringwright/base/limits';
import type { PartitionState } from '@ringwright/partition/file/partition-info';
import type { NewestRecord } from '@ringwright/partition/newest-records';
import type { Store } from '@ringwright/partition/store';
import { keyForm } from './http-answer.ts';

type InspectedStore = Pick<Store, 'list' | 'damaged' | 'newest'>;

interface InspectedCounts {
  /** Records with a value; tombstones; bytes of the values. */
  readonly rows: number;
  readonly tombstones: number;
  readonly bytes: number;
}

export interface InspectedRing extends InspectedCounts {
  readonly ring: string;
  readonly partitions: number;
  /** Partitions that still lack older records, and those whose files cannot be used. */
  readonly filling: number;
  readonly damaged: number;
}

export interface InspectedPartition extends InspectedCounts {
  readonly partition: number;
  readonly state: PartitionState | 'damaged';
  /** What is wrong with a damaged partition. */
  readonly damage: string | null;
}

interface InspectedRecord {
  /** The key as text, or in base64 where it is not text. */
  readonly key?: string;
  readonly key64?: string;
  /** Time of its stamp, in ISO form. */
  readonly time: string;
  /** Null: the record is a tombstone. */
  readonly valueBytes: number | null;
  readonly expires: string | null;
}

/** Rings, the partitions of one ring, or one partition and its newest records. */
export interface Inspection {
  readonly rings?: readonly InspectedRing[];
  readonly partitions?: readonly InspectedPartition[];
  readonly newest?: readonly InspectedRecord[];
}

/** Throws RING_UNKNOWN, PARTITION_ABSENT, PARTITION_DAMAGED. */
export function inspect(
  store: InspectedStore,
  ring: string | null,
  partition: number | null,
): Inspection {
  if (ring === null) return { rings: inspectRings(store) };
  const partitions = inspectPartitions(store, ring);
  if (partitions.length === 0) {
    const known = inspectRings(store).map((one) => one.ring);
    throw new CodedError('RING_UNKNOWN', `this device has no partition of a ring '${ring}'`, {
      hint:
        known.length === 0
          ? 'it has no partitions of any ring'
          : `it has partitions of: ${known.join(', ')}`,
      details: { ring, known },
    });
  }
  if (partition === null) return { partitions };
  const newest = store.newest(ring, partition, inspectedRecordsMax).map(recordForm);
  return { partitions: partitions.filter((one) => one.partition === partition), newest };
}

function inspectRings(store: InspectedStore): InspectedRing[] {
  const ringNames = [...store.list(), ...store.damaged()].map(({ keyspace }) => keyspace);
  return [...new Set(ringNames)].sort().map((ring) => {
    const partitions = inspectPartitions(store, ring);
    const count = (state: InspectedPartition['state']): number =>
      partitions.filter((one) => one.state === state).length;
    const sum = (of: keyof InspectedCounts): number =>
      partitions.reduce((total, one) => total + one[of], 0);
    const counts = { rows: sum('rows'), tombstones: sum('tombstones'), bytes: sum('bytes') };
    const states = { filling: count('filling') + count('lost'), damaged: count('damaged') };
    return { ring, partitions: partitions.length, ...states, ...counts };
  });
}

function inspectPartitions(store: InspectedStore, ring: string): InspectedPartition[] {
  const sound = store
    .list()
    .filter(({ keyspace }) => keyspace === ring)
    .map(({ partition, state, rows, tombstones, bytes }): InspectedPartition => {
      return { partition, state, rows, tombstones, bytes, damage: null };
    });
  const damaged = store
    .damaged()
    .filter(({ keyspace }) => keyspace === ring)
    .map(({ partition, error }): InspectedPartition => {
      const counts = { rows: 0, tombstones: 0, bytes: 0 };
      return { partition, state: 'damaged', ...counts, damage: error.message };
    });
  return [...sound, ...damaged].sort((one, other) => one.partition - other.partition);
}

function recordForm({ key, ms, valueBytes, expiresMs }: NewestRecord): InspectedRecord {
  const expires = expiresMs === 0 ? null : isoTime(expiresMs);
  return { ...keyForm(key), time: isoTime(ms), valueBytes, expires };
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
