// Runs one checking tool: its output is a complaint when it fails.
import { spawn } from 'node:child_process';
import path from 'node:path';
import type { Complaint } from './complaint.ts';

type Tool = readonly [name: string, ...args: readonly string[]];

export const tools: readonly Tool[] = [
  ['tsc', '--noEmit', '--pretty', 'false'],
  ['biome', 'ci', '--colors=off', '.'],
  ['oxlint', '--type-aware', '--deny-warnings', '--format', 'unix', '.'],
];

export function runTool([name, ...args]: Tool, root: string): Promise<Complaint[]> {
  return new Promise((resolve) => {
    const program = path.join(root, 'node_modules', '.bin', name);
    const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const add = (chunk: Buffer): void => {
      output += chunk.toString('utf8');
    };
    child.stdout.on('data', add);
    child.stderr.on('data', add);
    const failed = (reason: string): void => {
      resolve([{ file: name, line: 0, message: `${reason}\n${output.trim()}` }]);
    };
    child.on('error', (error) => failed(error.message));
    child.on('close', (code, signal) => {
      if (code === 0) resolve([]);
      else failed(`ended with ${code ?? signal}`);
    });
  });
}
