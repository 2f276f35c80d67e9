// Runs the completion scripts in a real zsh and a real fish. Skipped if the shell is missing.
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { quoteWord } from '@ringwright/base/quote-command';
import { expect, test } from 'vitest';
import { ringBuilderHere } from '../../../test/support/ring-builder-here.ts';
import { scripts } from './scripts.ts';

const bin = join(import.meta.dirname, '../../../node_modules/.bin');
const isMissing = (shell: string) => spawnSync(shell, ['-c', 'true']).error !== undefined;

/** Returns a function that runs a shell program in a folder with two rings and a file. */
async function inShell(shell: string) {
  const tool = await ringBuilderHere();
  await tool.json('create cities --partitions 8 --replicas 1');
  await tool.json('create cars --partitions 8 --replicas 1');
  await tool.json('add cities r1z1-10.0.0.1:6200/a 1 r1z2-[::1]:6200/a 1');
  await tool.json('commit cities -m first');
  await writeFile(join(tool.folder, 'backup.ring'), '');
  const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}`, HOME: tool.folder };
  return (program: string): string =>
    execFileSync(shell, ['-c', program], {
      ...{ cwd: tool.folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
      timeout: 60_000,
    });
}

test.skipIf(isMissing('fish'))('fish offers commands, rings, devices and files', async () => {
  const fish = await inShell('fish');
  const lines = ['rol', 'plan c', 'remove cities d', 'restore --from back'];
  const ask = lines.map((line) => `complete -C ${quoteWord(`ring-builder ${line}`)}; echo .`);
  const shown = fish([scripts.fish, ...ask].join('\n'));
  expect(shown.split('.\n').map((offers) => offers.trim())).toEqual([
    expect.stringMatching(/^rollout\tcarry out the moves/),
    'cars\tring\ncities\tring',
    'd0\tr1z1-10.0.0.1:6200/a\nd1\tr1z2-[::1]:6200/a',
    'backup.ring',
    '',
  ]);
});

/** Stubs for functions of compinit, which needs a terminal. They print what would be offered. */
const zshParts = `
  compdef() { :; }
  _describe() { print -rl -- "\${(@P)2}"; }
  _files() { print files; }`;

test.skipIf(isMissing('zsh'))('zsh offers commands, rings, devices and files', async () => {
  const zsh = await inShell('zsh');
  const lines = ['rol', 'plan c', 'remove cities d', 'restore --from back', "plan ''"];
  const ask = lines.map(
    (line) => `words=(ring-builder ${line}); CURRENT=\${#words}; _ring_builder; print .`,
  );
  const shown = zsh([zshParts, scripts.zsh, ...ask].join('\n'));
  expect(shown.split('.\n').map((offers) => offers.trim())).toEqual([
    expect.stringMatching(/^rollout:carry out the moves/),
    'cars:ring\ncities:ring',
    'd0:r1z1-10.0.0.1:6200/a\nd1:r1z2-[::1]:6200/a',
    'files',
    'cars:ring\ncities:ring',
    '',
  ]);
});
