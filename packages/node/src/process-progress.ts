// Notices a process that hangs: it does nothing, although it has work.
import { readFileSync } from 'node:fs';

/** One look proves nothing: this process itself may have been stopped in between. */
const LOOKS = 12;

/** Page faults and processor time in /proc/PID/stat, counted after the name in brackets. */
const STAT_FIELDS = [7, 9, 11, 12];

/**
 * A text that changes when a process does anything: reads, writes, computes, or wakes up. It stays
 * the same while the process is stopped, or waits for a disk. Null where the system does not say.
 */
export function progressOf(pid: number): string | null {
  const fields = textOf(pid, 'stat').split(') ').at(-1)?.split(' ') ?? [];
  if (fields.length <= Math.max(...STAT_FIELDS)) return null;
  const switches = textOf(pid, 'status').match(/ctxt_switches:\s+\d+/g) ?? [];
  return [...STAT_FIELDS.map((at) => fields[at]), ...switches, textOf(pid, 'io')].join();
}

/** Some of these files are for the owner of the process, or do not exist. */
function textOf(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}

/**
 * Calls `onStall` once, when all looks within `stallMsMax` find the same progress. A progress of
 * null is no stall. Returns a function that ends the watch.
 */
export function watchProgress(
  progress: () => string | null,
  { stallMsMax, onStall }: { readonly stallMsMax: number; readonly onStall: () => void },
): () => void {
  let last = progress();
  let looks = 0;
  const look = (): void => {
    const found = progress();
    looks = found === null || found !== last ? 0 : looks + 1;
    last = found;
    if (looks < LOOKS) return;
    clearInterval(timer);
    onStall();
  };
  const timer = setInterval(look, stallMsMax / LOOKS).unref();
  return () => clearInterval(timer);
}
