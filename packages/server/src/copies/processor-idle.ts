// How much of the machine's processors nobody needs, whoever takes the rest.
import { type CpuInfo, cpus } from 'node:os';

/**
 * Tells the share, 0 to 1, since it was last called; 1 where the system tells nothing. What runs at
 * low priority counts as busy: between groups of processes priorities say nothing.
 */
export function processorIdle(read: () => Pick<CpuInfo, 'times'>[] = cpus): () => number {
  let before = sumOf(read());
  return () => {
    const now = sumOf(read());
    const all = now.all - before.all;
    const share = all > 0 ? (now.idle - before.idle) / all : 1;
    before = now;
    return share;
  };
}

function sumOf(infos: Pick<CpuInfo, 'times'>[]): { idle: number; all: number } {
  const sum = { idle: 0, all: 0 };
  for (const { times } of infos) {
    sum.idle += times.idle;
    for (const ms of Object.values(times)) sum.all += ms;
  }
  return sum;
}
