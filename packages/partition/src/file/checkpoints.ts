// checkpoints: the sequence up to which each partition file is synced, as it was when the log last
// lost segments. What the log no longer has must be in the files: one with less is an older copy.
import { crc32 } from 'node:zlib';
import { CodedError } from '@ringwright/base/coded-error';
import { replaceOwnFile } from '@ringwright/node/durable-files';
import { readOwnFile } from '@ringwright/node/read-regular-file';
import { dataPaths, partitionName } from './data-paths.ts';
import { noSegment, type Partition, type SyncedFile } from './partition.ts';
import type { Registry } from './registry.ts';

/** By partitionName. */
export type Checkpoints = ReadonlyMap<string, SyncedFile>;

/**
 * Called before log segments go. The file is not needed for anything but the check, so an error of
 * the disk does not stop the log from getting shorter.
 */
export async function writeCheckpoints(root: string, registry: Registry): Promise<void> {
  const lines: string[] = [];
  for (const partition of registry.all()) {
    const synced = syncedOf(partition);
    if (synced === null) continue;
    lines.push(`${partitionName(partition)} ${synced.incarnation} ${synced.seq}\n`);
  }
  const text = lines.join('');
  const bytes = Buffer.from(`${text}${sumOf(text)}\n`);
  await replaceOwnFile(dataPaths.checkpoints(root), bytes).catch(() => undefined);
}

/** A partition without segments in the log has all its rows in its synced file. */
function syncedOf(partition: Partition): SyncedFile | null {
  const { hasFile, isNew, damage, dirtySegment, incarnation, synced } = partition;
  if (!hasFile || isNew) return null;
  const isKnown = synced?.incarnation === incarnation;
  const seq = partition.file?.seq ?? partition.infoWhenClosed?.seq;
  if (damage === null && dirtySegment === noSegment && seq !== undefined) {
    return { incarnation, seq };
  }
  return isKnown ? synced : null;
}

/** Returns nothing for a missing file, of an older release, and for a damaged one. */
export async function readCheckpoints(root: string): Promise<Checkpoints> {
  const text = String(await readOwnFile(dataPaths.checkpoints(root)).catch(() => ''));
  const lines = text.split('\n').slice(0, -1);
  const sum = lines.pop();
  const found = new Map<string, SyncedFile>();
  if (sum !== sumOf(lines.map((line) => `${line}\n`).join(''))) return found;
  for (const line of lines) {
    const [name = '', incarnation = '', seq = ''] = line.split(' ');
    found.set(name, { incarnation, seq: Number(seq) });
  }
  return found;
}

function sumOf(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}

/**
 * Marks a file that lacks what it had when the log lost those segments. A file of another
 * incarnation was adopted since, or is met by its peers like a new one.
 */
export function checkNotOlder(root: string, partition: Partition, checkpoints: Checkpoints): void {
  const synced = checkpoints.get(partitionName(partition)) ?? null;
  const { file, incarnation } = partition;
  if (synced === null || file === null || synced.incarnation !== incarnation) return;
  partition.synced = synced;
  if (file.seq >= synced.seq) return;
  const { keyspace, partition: number } = partition;
  const data = dataPaths.file(root, partition);
  const message = `${data} is an older copy: it has ${file.seq} of at least ${synced.seq} writes`;
  partition.damage = new CodedError('PARTITION_DAMAGED', message, {
    hint: `the partition refills from its other holders; if there are none, stop the server and put the newer file back, or remove ${dataPaths.checkpoints(root)} to use this one without later writes`,
    details: { keyspace, partition: number, seq: file.seq, synced: synced.seq },
  });
}
