// Resident memory of another process.
import fs from 'node:fs/promises';

/** In MB; 0 where the system does not tell. */
export async function residentMb(pid: number): Promise<number> {
  const text = await fs.readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return (Number(/^VmRSS:\s*(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1024) / 1e6;
}
