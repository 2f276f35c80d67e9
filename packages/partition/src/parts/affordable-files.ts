// How many partition files this process may keep open, from the machine's memory and descriptors.
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
  /** Memory of the machine, or of the control group that confines this process. */
  readonly memoryBytes: number;
  /** Infinity where the system does not say. */
  readonly descriptors: number;
}

/** Four descriptors per file, two of them for syncs. If descriptors are scarce, half stay free. */
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

/** The soft limit, which Node raises as far as it can at start. */
function descriptorsOfProcess(): number {
  try {
    const text = readFileSync('/proc/self/limits', 'utf8');
    const soft = /^Max open files +(\d+)/m.exec(text)?.[1];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    // Not Linux: SQLite then reports when descriptors run out.
    return Number.POSITIVE_INFINITY;
  }
}
