// Loads a partition that returns to a device whose old file is still here: only the records it
// missed travel.
import { inWaves } from '@ringwright/base/in-waves';
import { listKeysMax } from '@ringwright/base/limits';
import { catchUpMissedShareMax, catchUpReadsAtOnce } from '@ringwright/base/limits-copies';
import { compareStamps } from '@ringwright/base/stamp';
import { keysAfter } from '@ringwright/wire/listing';
import { recordRead } from '@ringwright/wire/records';
import { holdingAt } from '../peers/ask-digests.ts';
import type { LoadPorts, LoadTask } from './load-partition.ts';
import { takeRows } from './take-rows.ts';

/** How far the file here goes, as if it had just been copied from the source. */
interface CaughtUpFile {
  readonly incarnation: string;
  readonly seq: number;
  readonly rows: number;
}

/**
 * Returns null if a whole copy is better: there is no old file here, it lacks too much, or the
 * source has dropped tombstones that it never saw. Otherwise the file here has every record that
 * the source had when this began.
 */
export async function catchUpFile(
  ports: LoadPorts,
  task: LoadTask,
  device: number,
): Promise<CaughtUpFile | null> {
  const { active, partition } = task;
  const here = ports.store.info(active.ring.keyspace, partition);
  if (task.isReturning !== true || here === null || here.rows === 0) return null;
  const there = await holdingAt(ports.devices, task, device);
  if (there?.state !== 'ready' || there.floorMs > here.floorMs) return null;
  const most = Math.floor(there.rows * catchUpMissedShareMax);
  if (there.rows - here.rows > most) return null;
  const { incarnation, seq, rows } = there;
  if (there.digest === here.digest) return { incarnation, seq, rows };
  const missed = await listMissed(ports, task, { device, most });
  if (missed === null) return null;
  await takeRecords(ports, task, { device, keys: missed });
  return { incarnation, seq, rows };
}

/** Returns the keys that are newer at the source; null if they are more than `most`. */
async function listMissed(
  { store, devices }: LoadPorts,
  { active, partition, onProgress }: LoadTask,
  { device, most }: { readonly device: number; readonly most: number },
): Promise<Uint8Array[] | null> {
  const { keyspace, version: ringVersion } = active.ring;
  const about = { keyspace, ringVersion, partition, limit: listKeysMax, nowMs: 0 };
  const missed: Uint8Array[] = [];
  let after: Uint8Array = new Uint8Array();
  for (;;) {
    const { keys, more } = await devices.call({ active, device }, keysAfter, { ...about, after });
    for (const [key, ms, tie] of keys) {
      const own = store.read(keyspace, partition, key);
      if (own === null || compareStamps(own, { ms, tie }) < 0) missed.push(key);
      after = key;
    }
    if (missed.length > most) return null;
    onProgress({}); // throws if the load was stopped
    if (!more) return missed;
  }
}

async function takeRecords(
  ports: LoadPorts,
  { active, partition, onProgress }: LoadTask,
  { device, keys }: { readonly device: number; readonly keys: readonly Uint8Array[] },
): Promise<void> {
  const { keyspace, version: ringVersion } = active.ring;
  await inWaves(keys, catchUpReadsAtOnce, async (key) => {
    const about = { keyspace, ringVersion, partition, key };
    const { record } = await ports.devices.call({ active, device }, recordRead, about);
    if (record !== null) await takeRows(ports, { active, partition }, [{ key, ...record }]);
    onProgress({});
  });
}
