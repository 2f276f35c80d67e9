// Copies a whole partition from another device. The helper processes beside the stores carry its
// file, or it comes in chunks. A small partition comes packed, and its file is made here.
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
 * After it resolves, the file here holds the copy, merged with what was written here meanwhile. If
 * the connection breaks, what has come is kept for the next attempt, which resumes the copy if the
 * source still has it. Throws COPY_CUT if some bytes came before the break, and what the source and
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
      // The source was restarted, or released the idle copy: the copy starts over.
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

/**
 * Errors after which the copy comes in chunks: the source has no helper process for copies, or runs
 * an older release, or does and the partition is empty.
 */
const comesInChunks: readonly string[] = ['USAGE', 'WIRE_VERSION_UNKNOWN', 'COPY_NEEDLESS'];

/** Returns null for a copy that must come in chunks. */
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

/** An empty partition needs no file. A floor is never above the barrier. */
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
