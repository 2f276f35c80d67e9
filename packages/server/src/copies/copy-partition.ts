// Brings a whole partition file from another device: the processes beside the stores carry it, or
// else it comes in chunks; verification and adoption here.
import { CodedError } from '@ringwright/base/coded-error';
import { copyInChunks } from './copy-in-chunks.ts';
import type { CopyPorts, CopyResult, CopyTask } from './copy-task.ts';
import { fetchCopy } from './fetch-copy.ts';
import type { BegunCopy } from './partial-copies.ts';

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
  return (await fetchCopy(ports, task, null)) ?? copyInChunks(ports, task, null);
}

function goOn(ports: CopyPorts, task: CopyTask, kept: BegunCopy): Promise<CopyResult | null> {
  if (kept.kind === 'fetched') return fetchCopy(ports, task, kept);
  return copyInChunks(ports, task, kept);
}
