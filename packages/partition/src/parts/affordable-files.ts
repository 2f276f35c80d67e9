// How many partition files this process may keep open, by the machine's memory and descriptors.
import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import {
  descriptorsKept,
  openFileBytes,
  openFilesMemoryShare,
  openPartitionFilesMax,
  openPartitionFilesMin,
} from '@ringwright/base/limits-store';

interface MachineLimits {
  /** Of the machine, or of the group of processes this one is confined to. */
  readonly memoryBytes: number;
  /** Infinity where nobody says. */
  readonly descriptors: number;
}

/** Four descriptors each, two of them for syncs; where there are few, half of them are kept. */
export function affordableFiles({ memoryBytes, descriptors }: MachineLimits): number {
  const byMemory = (memoryBytes * openFilesMemoryShare) / openFileBytes;
  const byDescriptors = Math.max(descriptors - descriptorsKept, descriptors / 2) / 4;
  const wanted = Math.max(openPartitionFilesMin, Math.min(byMemory, openPartitionFilesMax));
  return Math.floor(Math.min(wanted, byDescriptors));
}

export function machineLimits(): MachineLimits {
  const confined = process.constrainedMemory();
  const memoryBytes = confined > 0 ? Math.min(totalmem(), confined) : totalmem();
  return { memoryBytes, descriptors: descriptorsOfProcess() };
}

/** The soft limit, which Node raises as far as it may when it starts. */
function descriptorsOfProcess(): number {
  try {
    const text = readFileSync('/proc/self/limits', 'utf8');
    const soft = /^Max open files +(\d+)/m.exec(text)?.[1];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY; // another system: SQLite then says when there are no more
  }
}
