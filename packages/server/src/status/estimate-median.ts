// Estimates from a sample where a partition would be cut in two halves of its records.
import { setImmediate } from 'node:timers/promises';
import { middleSampleRows, middleTurnRows } from '@ringwright/base/limits';
import { seededRandom } from '@ringwright/base/random';
import type { Store } from '@ringwright/partition/store';
import { circleOf, hashesBetween } from '@ringwright/ring/partitioner/hash-circle';
import { keyText } from '@ringwright/ring/partitioner/key-text';
import type { Ring } from '@ringwright/ring/ring';

interface Middle {
  /**
   * In the form that a split takes: the last hash of the first half, or the first key of the
   * second.
   */
  readonly at: number | string;
  /** Part of the sample that lies before the cut. */
  readonly share: number;
  /** Number of different records that were drawn. */
  readonly sampled: number;
}

/**
 * Returns null if there is no file or fewer than two records were drawn. Records are drawn by
 * sequence number, so one that follows many overwritten ones is drawn often; it counts once.
 */
export async function estimateMedian(
  store: Store,
  { keyspace, partitioner }: Pick<Ring, 'keyspace' | 'partitioner'>,
  partition: number,
): Promise<Middle | null> {
  const keys = await sampleOf(store, keyspace, partition);
  if (keys.length < 2) return null;
  const sampled = keys.length;
  const [circle, half] = [circleOf(partitioner), Math.floor(sampled / 2)];
  const arc = circle?.arcOf(partition);
  if (circle === null || arc === null || arc === undefined) {
    const sorted = keys.sort((a, b) => a.compare(b));
    const middle = sorted[half] ?? new Uint8Array();
    const before = sorted.findIndex((key) => Buffer.compare(key, middle) === 0);
    return { at: keyText(middle), share: before / sampled, sampled };
  }
  const places = keys.map((key) => hashesBetween(arc.start, circle.hashOf(key)));
  const middle = places.sort((a, b) => a - b)[half - 1] ?? 0;
  const share = places.filter((place) => place <= middle).length / sampled;
  return { at: (arc.start + middle) % 2 ** 32, share, sampled };
}

async function sampleOf(store: Store, keyspace: string, partition: number): Promise<Buffer[]> {
  const seq = store.info(keyspace, partition)?.seq ?? 0;
  const random = seededRandom(seq);
  const keys = new Map<number, Buffer>();
  for (let drawn = 0; seq > 0 && drawn < middleSampleRows; drawn += 1) {
    const since = Math.floor((random.next() / 2 ** 32) * seq);
    const [row] = store.stampsSince(keyspace, partition, since, { rowsMax: 1, bytesMax: 1 }).rows;
    if (row !== undefined) keys.set(row.seq, Buffer.from(row.key));
    if (drawn % middleTurnRows === 0) await setImmediate();
  }
  return [...keys.values()];
}
