// The resources that a process has used so far, as counted by the system.
import fs from 'node:fs/promises';

/** Clock ticks in /proc/PID/stat, on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;
/** Fields after the name in brackets: user and system time, then those of children that ended. */
const [USER_TICKS, SYSTEM_TICKS, CHILD_USER_TICKS, CHILD_SYSTEM_TICKS] = [11, 12, 13, 14];

interface ProcessCost {
  readonly cpuSeconds: number;
  /**
   * Bytes given to the file system; 0 where the system does not report them. Too high when short
   * writes overwrite long ones: Linux counts the whole folio that is touched, 1 MiB of a log's
   * zeros, and writes one page of it (RESULTS.md).
   */
  readonly writtenBytes: number;
}

export async function processCost(pid: number): Promise<ProcessCost> {
  const io = await fs.readFile(`/proc/${pid}/io`, 'utf8').catch(() => '');
  const writtenBytes = Number(/^write_bytes: (\d+)$/m.exec(io)?.[1] ?? 0);
  return {
    cpuSeconds: await seconds(`/proc/${pid}/stat`, [USER_TICKS, SYSTEM_TICKS]),
    writtenBytes,
  };
}

/** Processor seconds of the first thread, which serves, and of the helper processes. */
export async function threadAndChildren(
  pid: number,
): Promise<{ readonly thread: number; readonly children: number }> {
  const task = `/proc/${pid}/task/${pid}`;
  const thread = await seconds(`${task}/stat`, [USER_TICKS, SYSTEM_TICKS]);
  return { thread, children: (await descendantsCost(pid)).cpuSeconds };
}

const zeroCost: ProcessCost = { cpuSeconds: 0, writtenBytes: 0 };

/** Returns the cost of processes with all descendants. Parents include ended children. */
export async function treeCost(pids: readonly number[]): Promise<ProcessCost> {
  const costs = await Promise.all(pids.map(familyCost));
  return costs.reduce(sum, zeroCost);
}

async function familyCost(pid: number): Promise<ProcessCost> {
  return sum(await processCost(pid), await descendantsCost(pid));
}

async function descendantsCost(pid: number): Promise<ProcessCost> {
  const children = (await childrenOf(pid)).map((id) => familyCost(id).catch(() => zeroCost));
  const ended = { cpuSeconds: await endedChildren(pid), writtenBytes: 0 };
  return (await Promise.all(children)).reduce(sum, ended);
}

function sum(one: ProcessCost, other: ProcessCost): ProcessCost {
  return {
    cpuSeconds: one.cpuSeconds + other.cpuSeconds,
    writtenBytes: one.writtenBytes + other.writtenBytes,
  };
}

/** Returns the running children that its first thread has started. */
async function childrenOf(pid: number): Promise<number[]> {
  const ids = await fs.readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return ids.split(' ').filter(Boolean).map(Number);
}

/** Returns the processor seconds of children that have ended. */
export function endedChildren(pid: number): Promise<number> {
  return seconds(`/proc/${pid}/stat`, [CHILD_USER_TICKS, CHILD_SYSTEM_TICKS]);
}

async function seconds(file: string, fieldIndexes: readonly number[]): Promise<number> {
  const stat = await fs.readFile(file, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fieldIndexes.reduce((sum, field) => sum + Number(fields[field]), 0) / TICKS_PER_SECOND;
}

/** Returns megabytes; 0 where the system does not report them. */
export async function residentMb(pid: number): Promise<number> {
  const text = await fs.readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return (Number(/^VmRSS:\s*(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1024) / 1e6;
}
