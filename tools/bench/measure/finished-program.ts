// A program run to its end for what it prints.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** Its standard output. Rejects when it does not end with 0. */
export async function outputOf(file: string, args: readonly string[]): Promise<string> {
  const child = spawn(file, [...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'close') as Promise<[code: number | null]>;
  const printed = [text(child.stdout), text(child.stderr)] as const;
  const [[code], stdout, stderr] = await Promise.all([exited, ...printed]);
  if (code === 0) return stdout;
  throw new Error(`${file} ${args.join(' ')} ended with ${code}: ${stderr.trim().slice(-2_000)}`);
}

/** What `--version` prints first; null when it is not installed. */
export async function versionOf(file: string): Promise<string | null> {
  try {
    return (await outputOf(file, ['--version'])).split('\n')[0] ?? '';
  } catch {
    return null;
  }
}
