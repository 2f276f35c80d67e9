// What the machine, or the limits of this process, allow: memory and file descriptors.
import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';

export interface MachineLimits {
  /** Memory of the machine, or of the control group that confines this process. */
  readonly memoryBytes: number;
  /** Infinity where the system does not say. */
  readonly descriptors: number;
}

export function machineLimits(): MachineLimits {
  return { memoryBytes: machineMemoryBytes(), descriptors: descriptorsOfProcess() };
}

export function machineMemoryBytes(): number {
  const confined = process.constrainedMemory();
  return confined > 0 ? Math.min(totalmem(), confined) : totalmem();
}

/** The soft limit, which Node raises as far as it can at start. */
function descriptorsOfProcess(): number {
  try {
    const text = readFileSync('/proc/self/limits', 'utf8');
    const soft = /^Max open files +(\d+)/m.exec(text)?.[1];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
