// Runs one checking tool and reads its answer: complaints, or why it could not say anything.
import { spawn } from 'node:child_process';
import path from 'node:path';
import type { Complaint } from './complaint.ts';

export interface Tool {
  readonly name: string;
  readonly args: readonly string[];
  /** The complaints in what the tool printed. */
  readonly parse: (output: string, root: string) => Complaint[];
}

const inTree = (file: string, root: string): string =>
  path.isAbsolute(file) ? path.relative(root, file) : file;

/** `file(line,column): error TS1234: sentence` */
const tsc: Tool = {
  name: 'tsc',
  args: ['--noEmit', '--pretty', 'false'],
  parse: (output, root) =>
    [...output.matchAll(/^(.+?)\((\d+),\d+\): error (TS\d+: .*)$/gm)].map((match) => ({
      file: inTree(match[1] ?? '', root),
      line: Number(match[2]),
      message: match[3] ?? '',
    })),
};

/** `::error title=format,file=…,line=1,…::sentence` */
const biome: Tool = {
  name: 'biome',
  args: ['ci', '--reporter=github', '.'],
  parse: (output, root) =>
    [...output.matchAll(/^::error title=(.*?),file=(.*?),line=(\d+).*?::(.*)$/gm)].map((match) => ({
      file: inTree(match[2] ?? '', root),
      line: Number(match[3]),
      message: `${match[4]} (${match[1]}): run npm run format`,
    })),
};

/** `file:line:column: sentence [Error/rule]` */
const oxlint: Tool = {
  name: 'oxlint',
  args: ['--type-aware', '--format', 'unix', '.'],
  parse: (output, root) =>
    [...output.matchAll(/^(.+?):(\d+):\d+: (.*)$/gm)].map((match) => ({
      file: inTree(match[1] ?? '', root),
      line: Number(match[2]),
      message: match[3] ?? '',
    })),
};

export const tools: readonly Tool[] = [tsc, biome, oxlint];

/** A tool that fails without a complaint that can be read is a complaint itself: never a false pass. */
export async function runTool(tool: Tool, root: string): Promise<Complaint[]> {
  const { code, output } = await capture(
    path.join(root, 'node_modules', '.bin', tool.name),
    tool.args,
    root,
  );
  const complaints = tool.parse(output, root);
  if (code === 0 || complaints.length > 0) return complaints;
  const message = `ended with ${code}: ${output.trim() || 'no output'}`;
  return [{ file: tool.name, line: 0, message }];
}

function capture(
  command: string,
  args: readonly string[],
  cwd: string,
): Promise<{ code: number | string; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const add = (chunk: Buffer): void => {
      output += chunk.toString('utf8');
    };
    child.stdout.on('data', add);
    child.stderr.on('data', add);
    child.on('error', (error) => resolve({ code: error.message, output }));
    child.on('close', (code, signal) => resolve({ code: code ?? signal ?? 'no code', output }));
  });
}
