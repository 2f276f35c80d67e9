// Brings a whole partition from another device. Its file is carried by the processes beside the
// stores, or comes in chunks; a small one comes packed, and its file is made here.
import { must } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { copyStart } from '@ringwright/wire/copies';
import type { AnswerOf } from '@ringwright/wire/message';
import { copyInChunks } from './copy-in-chunks.ts';
import type { CopyPorts, CopyResult, CopyTask } from './copy-task.ts';
import { beginFetch, fetchCopy, type OfferedFile, reopen } from './fetch-copy.ts';
import type { BegunCopy } from './partial-copies.ts';

type Offer = AnswerOf<typeof copyStart>;

/**
 * After it resolves the file here holds the copy, merged with what was written here meanwhile. A
 * connection that breaks leaves what has come for the next attempt, which goes on with it if the
 * source still gives it. Throws COPY_CUT when some came before it broke, and what the source and
 * `finish` throw.
 */
export async function copyPartition(ports: CopyPorts, task: CopyTask): Promise<CopyResult> {
  const { partition, assignment, source } = task;
  const { keyspace } = task.active.ring;
  const kept = await ports.partial.take({ keyspace, partition, assignment, source });
  if (kept !== null) {
    try {
      const copied = await goOn(ports, task, kept);
      if (copied !== null) return copied;
    } catch (error) {
      // The source was restarted, or waited in vain: its copy is gone, so it begins anew.
      if (!(error instanceof CodedError) || error.code !== 'MOVE_UNKNOWN') throw error;
    }
  }
  const offer = await askForCopy(ports, task);
  if (offer === null) return copyInChunks(ports, task, null);
  if ('records' in offer) return takePacked(ports, task, offer);
  const begun = await beginFetch(ports, task, offer);
  return (await fetchCopy(ports, task, begun)) ?? copyInChunks(ports, task, null);
}

async function goOn(ports: CopyPorts, task: CopyTask, kept: BegunCopy): Promise<CopyResult | null> {
  if (kept.kind === 'chunks') return copyInChunks(ports, task, kept);
  return fetchCopy(ports, task, await reopen(ports, task, kept));
}

/** No process gives copies there; or the source is of an older version, and the partition empty. */
const comesInChunks: readonly string[] = ['USAGE', 'WIRE_VERSION_UNKNOWN', 'COPY_NEEDLESS'];

/** Null for one that comes in chunks. */
async function askForCopy(
  { devices }: CopyPorts,
  { active, partition, assignment, source }: CopyTask,
): Promise<Offer | null> {
  const { keyspace, version: ringVersion } = active.ring;
  const device = must(active.self, 'a device outside the ring loads nothing');
  const about = { keyspace, ringVersion, partition, assignment, device };
  try {
    return await devices.call({ active, device: source }, copyStart, {
      ...about,
      takesPacked: true,
    });
  } catch (error) {
    if (error instanceof CodedError && comesInChunks.includes(error.code)) return null;
    throw error;
  }
}

/** An empty one has nothing that a file need be made for. A floor is never above the barrier. */
async function takePacked(
  { store, throttle }: CopyPorts,
  { active, partition, onBytes, onReceived }: CopyTask,
  { hasPromises, ...packed }: Exclude<Offer, OfferedFile>,
): Promise<CopyResult> {
  const { sourceIncarnation: incarnation, seq, digest, rows, barrierMs } = packed;
  const bytes = packed.records.length;
  await throttle.pass(bytes);
  onBytes(bytes, bytes);
  onReceived();
  if (seq > 0 || barrierMs > 0) {
    await store.copies.unpack({ keyspace: active.ring.keyspace, partition, ...packed });
  }
  return { incarnation, seq, digest, bytes, rows, hasPromises };
}
