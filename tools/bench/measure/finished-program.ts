// Runs a program to its end, for its output.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** Returns the standard output. Rejects unless the program ends with 0. */
export async function outputOf(file: string, args: readonly string[]): Promise<string> {
  const child = spawn(file, [...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'close') as Promise<[code: number | null]>;
  const printed = [text(child.stdout), text(child.stderr)] as const;
  const [[code], stdout, stderr] = await Promise.all([exited, ...printed]);
  if (code === 0) return stdout;
  throw new Error(`${file} ${args.join(' ')} ended with ${code}: ${stderr.trim().slice(-2_000)}`);
}

/** Returns the first line of `--version`; null when the program is not installed. */
export async function versionOf(file: string): Promise<string | null> {
  try {
    return (await outputOf(file, ['--version'])).split('\n')[0] ?? '';
  } catch {
    return null;
  }
}
