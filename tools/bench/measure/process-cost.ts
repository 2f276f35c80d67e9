// What a process has used so far, as the system counts it.
import fs from 'node:fs/promises';

/** Of /proc/PID/stat, on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;
/** Of what follows the name in brackets: user and system time of all threads. */
const [USER_TICKS, SYSTEM_TICKS] = [11, 12];

export interface ProcessCost {
  readonly cpuSeconds: number;
  /** Given to the file system, once a page that was changed; 0 where the system does not tell. */
  readonly writtenBytes: number;
}

export async function processCost(pid: number): Promise<ProcessCost> {
  const stat = await fs.readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS]);
  const io = await fs.readFile(`/proc/${pid}/io`, 'utf8').catch(() => '');
  const writtenBytes = Number(/^write_bytes: (\d+)$/m.exec(io)?.[1] ?? 0);
  return { cpuSeconds: ticks / TICKS_PER_SECOND, writtenBytes };
}
