// A command in a pseudo-terminal, by script(1) of util-linux: what is shown, and what is typed.
import { spawn, spawnSync } from 'node:child_process';

export const hasTerminals = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0;

export interface Typed {
  /** Typed once this has been shown since what was typed before. */
  readonly after: string;
  readonly text: string;
}

/** Resolves with all that was shown, and the exit code. `words` must need no quoting. */
export function inTerminal(
  args: readonly string[],
  { typed, env = {} }: { readonly typed: readonly Typed[]; readonly env?: NodeJS.ProcessEnv },
): Promise<{ readonly shown: string; readonly exit: number | null }> {
  const child = spawn('script', ['-qec', args.join(' '), '/dev/null'], {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let shown = '';
  let seen = 0;
  const left = [...typed];
  child.stdout.on('data', (chunk: Buffer) => {
    shown += chunk.toString();
    const [next] = left;
    const at = next === undefined ? -1 : shown.indexOf(next.after, seen);
    if (next === undefined || at < 0) return;
    seen = at + next.after.length;
    left.shift();
    child.stdin.write(next.text);
  });
  return new Promise((resolve) => child.once('close', (exit) => resolve({ shown, exit })));
}
