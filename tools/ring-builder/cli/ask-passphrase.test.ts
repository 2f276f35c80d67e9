// Tests the passphrase prompt in a terminal, which must never display the passphrase.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ringBuilderProgramIn } from '../../../test/support/ring-builder-program.ts';

const program = join(import.meta.dirname, '../launcher.mjs');
const secret = 'correct-horse-battery';
const hasTerminals = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0;
const enter = (after: string, text: string): Typed => ({ after, text: `${text}\r` });

if (!hasTerminals) console.log('skipped: script(1) of util-linux is not here');

test.skipIf(!hasTerminals)('key generate asks twice and commit once, without echo', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'passphrase-'));
  const [rings, keys] = [join(folder, 'rings'), join(folder, 'keys')];
  const type = (args: string, ...typed: Typed[]) => {
    const places = ['--rings', rings, '--key-folder', keys];
    const env = { RING_BUILDER_PASSPHRASE: undefined };
    return inTerminal([process.execPath, program, ...args.split(' '), ...places], { typed, env });
  };
  const generate = 'key generate ada';
  const differ = await type(
    generate,
    enter('passphrase: ', secret),
    enter('more: ', 'another-one'),
  );
  expect([differ.exit, differ.shown]).toEqual([2, expect.stringContaining('passphrases differ')]);
  expect(await readdir(folder)).toEqual([]);

  // Includes a typing error and its correction: 127 is the backspace key of a terminal.
  const made = await type(
    generate,
    enter('new passphrase: ', `${secret}x\u007f`),
    enter('once more: ', secret),
  );
  expect(made.exit, made.shown).toBe(0);
  expect(made.shown).toContain('signing is on');

  const tool = await ringBuilderProgramIn(folder);
  await tool.json('create cities --partitions 8 --replicas 1');
  await tool.json('add cities r1z1-10.0.0.1:6200/a 1');
  const wrong = await type('commit cities -m first', enter('passphrase: ', 'not-the-right-one'));
  expect([wrong.exit, wrong.shown]).toEqual([2, expect.stringContaining('SIGNING_KEY_LOCKED')]);
  const signed = await type('commit cities -m first', enter('passphrase: ', secret));
  expect(signed.exit, signed.shown).toBe(0);
  expect(signed.shown).toContain('signed by ada');
  expect(signed.shown.match(/passphrase: /g)).toHaveLength(1);
  for (const { shown } of [differ, made, wrong, signed])
    expect(shown).not.toMatch(/horse|right-one/);

  await tool.json('set cities --overload 0.1');
  const stopped = await type('commit cities -m again', { after: 'passphrase: ', text: '\u0003' });
  // script(1) exits with 128 plus the number of SIGINT.
  expect(stopped.exit).toBe(130);
  expect(await tool.json('status cities')).toMatchObject({ head: 1, changes: 1 });
});

test('without a terminal nothing is prompted, and the key stays locked', async () => {
  const tool = await ringBuilderProgramIn();
  const { exit, stderr } = await tool.run('key generate ada --key-folder keys');
  expect([exit, stderr]).toEqual([2, expect.stringContaining('SIGNING_KEY_LOCKED')]);
  expect(stderr).not.toContain('passphrase: ');
});

interface Typed {
  /** The text is typed as soon as the terminal displays this after the previous input. */
  readonly after: string;
  readonly text: string;
}

/**
 * Runs a program in a terminal of script(1) of util-linux, and resolves to everything displayed.
 * The arguments must not need quoting.
 */
function inTerminal(
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
