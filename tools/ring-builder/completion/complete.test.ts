// Tests what completion offers at each position, and that a real bash offers it.
import { execFileSync, spawnSync } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { quoteWord } from '@ringwright/base/quote-command';
import { expect, test } from 'vitest';
import { notePush } from '../../../test/support/note-push.ts';
import { type RingBuilderHere, ringBuilderHere } from '../../../test/support/ring-builder-here.ts';
import { commands } from '../command-groups.ts';
import { parseCommandLine } from '../command-line.ts';
import { completionWord, scripts, shells } from './scripts.ts';

async function complete(...args: string[]): Promise<string[]> {
  const parsed = await parseCommandLine([completionWord, 'bash', ...args]);
  return parsed.kind === 'help' && parsed.text !== '' ? parsed.text.split('\n') : [];
}

async function withRings(): Promise<{ readonly tool: RingBuilderHere; readonly rings: string }> {
  const tool = await ringBuilderHere();
  await tool.json('create cities --partitions 8 --replicas 1');
  await tool.json('create cars --partitions 8 --replicas 1');
  await tool.json('create notes --partitions 8 --replicas 1');
  await tool.json('add cities r1z1-10.0.0.1:6200/a 1 r1z2-[::1]:6200/a 1');
  await tool.json('commit cities -m first');
  return { tool, rings: join(tool.folder, 'rings') };
}

test('commands, options and choices are completed', async () => {
  expect(await complete('')).toEqual(commands.map(({ name }) => name));
  expect(await complete('st')).toEqual(['status', 'stores']);
  expect(await complete('nothing', '')).toEqual([]);
  expect(await complete('plan', '--of')).toEqual(['--offline']);
  expect(await complete('plan', '--ri')).toEqual(['--rings', '--ring-stores']);
  expect(await complete('push', 'cities', '--wait', 'q')).toEqual(['quorum']);
  expect(await complete('push', 'cities', '--wait=q')).toEqual(['quorum']);
  expect(await complete('completion', '')).toEqual([...shells]);
  expect(await complete('trash', 'cities', 're')).toEqual(['restore']);
  expect(await complete('moves', 'cities', 'pa')).toEqual(['pause']);
  // The shell itself completes paths.
  expect(await complete('plan', '--rings', '')).toEqual([]);
});

test('rings and devices of the --rings folder are completed', async () => {
  const { rings } = await withRings();
  const there = ['--rings', rings];
  expect(await complete('plan', ...there, 'c')).toEqual(['cars', 'cities']);
  expect(await complete('plan', '--offline', `--rings=${rings}`, 'n')).toEqual(['notes']);
  // The words into which bash splits --rings=FOLDER.
  expect(await complete('plan', '--rings', '=', rings, 'n')).toEqual(['notes']);
  expect(await complete('health', ...there, 'n')).toEqual(['notes']);
  expect(await complete('import-swift', ...there, 'n')).toEqual([]);
  expect(await complete('remove', ...there, 'cities', '')).toEqual(['d0', 'd1']);
  expect(await complete('remove', ...there, 'cities', 'd0', 'd1')).toEqual(['d1']);
  expect(await complete('set-device', 'cities', ...there, 'd')).toEqual(['d0', 'd1']);
  expect(await complete('log', 'cities', ...there, '--device', '')).toEqual(['d0', 'd1']);
  expect(await complete('add', 'cities', ...there, 'd')).toEqual([]);
  expect(await complete('remove', ...there, 'absent', '')).toEqual([]);
  expect(await complete('remove', '--rings', '/dev/null', 'cities', '')).toEqual([]);
  const zsh = await parseCommandLine([completionWord, 'zsh', 'remove', ...there, 'cities', 'd1']);
  expect(zsh).toEqual({ kind: 'help', text: 'd1:r1z2-[::1]:6200/a' });
});

test('components, versions and failure domains of the typed ring are completed', async () => {
  const { tool, rings } = await withRings();
  const there = ['--rings', rings];
  expect(await complete('compose', ...there, 'all', '')).toEqual(['cars', 'cities', 'notes']);
  expect(await complete('compose', ...there, 'all', 'cars', 'c')).toEqual(['cities']);
  expect(await complete('compose', ...there, 'cities', 'notes', '')).toEqual(['cars']);

  expect(await complete('show', ...there, 'cities', '')).toEqual(['1']);
  expect(await complete('show', ...there, 'cars', '')).toEqual([]);
  await tool.json('set cities --overload 0.5');
  await tool.json(['commit', 'cities', '-m', 'one line\nand: another \u001b[2J']);
  for (const place of [['push'], ['verify'], ['revert'], ['diff'], ['diff', '1']]) {
    const [name = '', ...typed] = place;
    expect(await complete(name, ...there, 'cities', ...typed, ''), name).toEqual(['2', '1']);
  }
  const zsh = await parseCommandLine([completionWord, 'zsh', 'show', ...there, 'cities', '2']);
  expect(zsh).toMatchObject({ text: expect.stringMatching(/^2:ada: one line[^\n]*and: another/) });
  expect(zsh.kind === 'help' && zsh.text).not.toMatch(/\p{Cc}/u);
  await notePush(tool.folder);
  expect(await complete('table', ...there, 'cities', ''), 'a note adds no version').toEqual([
    '2',
    '1',
  ]);

  const drill = (...typed: string[]) => complete('drill', ...there, 'cities', ...typed);
  expect(await drill('')).toEqual(['device', 'server', 'zone', 'region']);
  expect(await drill('region', '')).toEqual(['r1']);
  expect(await drill('zone', '')).toEqual(['r1z1', 'r1z2']);
  expect(await drill('zone', 'r1z1', 'r1z2')).toEqual(['r1z2']);
  expect(await drill('device', 'd')).toEqual(['d0', 'd1']);
  // Names with a colon are not offered, because no shell treats a colon as part of a word.
  expect(await drill('server', '')).toEqual(['r1z1-10.0.0.1']);
  expect(await drill('planet', '')).toEqual([]);
  expect(await complete('key', ...there, 'trust', '')).toEqual([]);
});

test('each shell has a script that begins with how to install it', async () => {
  const tool = await ringBuilderHere();
  for (const shell of shells) {
    const shown = await tool.text(`completion ${shell}`);
    expect(shown).toBe(scripts[shell]);
    expect(shown.split('\n').slice(0, 3).join('\n')).toContain(`ring-builder completion ${shell}`);
    if (spawnSync(shell, ['-c', 'true']).error === undefined) {
      const file = join(tool.folder, shell);
      await writeFile(file, shown);
      execFileSync(shell, ['-n', file]);
    } else console.log(`skipped: there is no ${shell} here to read its script`);
  }
  expect(await tool.refusal('completion csh')).toEqual({ exit: 2, code: 'USAGE' });
});

test.skipIf(spawnSync('bash', ['-c', 'true']).error !== undefined)('bash completes', async () => {
  const { tool, rings } = await withRings();
  const bin = join(import.meta.dirname, '../../../node_modules/.bin');
  const ask = (args: string): string[] => {
    const script = `${scripts.bash}
      COMP_WORDS=(${args}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
      _ring_builder
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}` };
    const shown = execFileSync('bash', ['-c', script], { cwd: tool.folder, env, encoding: 'utf8' });
    return shown.trimEnd().split('\n');
  };
  expect(ask('ring-builder rol')).toEqual(['rollout']);
  expect(ask("ring-builder plan ''")).toEqual(['cars', 'cities', 'notes']);
  expect(ask(`ring-builder remove --rings ${rings} cities d`)).toEqual(['d0', 'd1']);
  expect(ask("ring-builder plan --rings '' ''")).toEqual(['']);
  // A shell passes words on as they were typed, including their quotes.
  const odd = join(tool.folder, 'my "own" $dir');
  await symlink(rings, odd);
  const escaped = odd.replaceAll(/[" $]/g, '\\$&');
  for (const typed of [`'${odd}'`, `"${odd.replaceAll(/["$]/g, '\\$&')}"`, escaped]) {
    expect(ask(`ring-builder plan --rings ${quoteWord(typed)} c`)).toEqual(['cars', 'cities']);
  }
  expect(ask(`ring-builder plan --rings ${rings} '"c'`)).toEqual(['cars', 'cities']);
});
