// Tests how the command line is parsed, and the help of the program and of each command.
import { afterEach, expect, test, vi } from 'vitest';
import { commandGroups, commands } from './command-groups.ts';
import { parseCommandLine } from './command-line.ts';

test.for(commands)('the help of $usage shows an example of the command', async ({ name }) => {
  const parsed = await parseCommandLine([name, '--help']);
  expect(parsed.kind === 'help' && parsed.text).toContain(`Examples:\n  ring-builder ${name} `);
});

test.for(commands)('the examples in the help of $usage can be typed', async ({ load }) => {
  const { command } = await load();
  for (const [example] of command.examples) {
    const words = example.match(/"[^"]*"|[^\s"]+/g)?.map((word) => word.replaceAll('"', ''));
    // Words for the shell, before or behind the command, are no arguments.
    if (words?.[0] !== '$0' || words.includes('|')) continue;
    const parsed = await parseCommandLine(words.slice(1));
    expect(parsed.kind, example).toBe('run');
  }
});

test.each([48, 100])('at %d columns the help lists all groups of commands', async (columns) => {
  const parsed = await parseCommandLine([], columns);
  const help = parsed.kind === 'help' ? parsed.text : '';
  expect(help).not.toMatch(/\0|^Commands:/m);
  const groups = [...help.matchAll(/^Commands to (.*):\n((?: {2}.*\n)+)/gm)];
  const inHelp = groups.map(([, to, lines]) => {
    const rows = (lines ?? '').split(/^ {2}ring-builder\s/m).slice(1);
    return `${to}: ${rows.length}`;
  });
  expect(inHelp).toEqual(commandGroups.map((group) => `${group.to}: ${group.commands.length}`));
});

test('the help of a command lists its own options before the common ones', async () => {
  const parsed = await parseCommandLine(['commit', '--help']);
  const help = parsed.kind === 'help' ? parsed.text : '';
  const found = ['Positionals:', 'Options:', '--message', 'Options of every command:', '--rings'];
  const places = found.map((what) => help.search(new RegExp(`^ *(-\\w, )?${what}`, 'm')));
  expect(places, help).not.toContain(-1);
  expect(places, help).toEqual(places.toSorted((a, b) => a - b));
  expect(help.indexOf('--help'), '--help is a common option').toBeGreaterThan(places.at(-1) ?? 0);
});

afterEach(() => {
  vi.unstubAllEnvs();
});

test('the help and errors are in English in a German locale too', async () => {
  vi.stubEnv('LC_ALL', 'de_DE.UTF-8');
  const parsed = await parseCommandLine(['commit', '--help']);
  expect(parsed.kind === 'help' && parsed.text).toMatch(/^Options:$/m);
  expect(parsed.kind === 'help' && parsed.text).toMatch(/^Examples:$/m);
  await expect(parseCommandLine(['comit'])).rejects.toThrow('unknown command comit');
});

test.each([
  [['nosuch'], 'unknown command nosuch'],
  [['nosuch', 'cities'], 'unknown command nosuch'],
  [['moves', 'cities', 'dance'], /^action "dance": wanted one of list, /],
  [['commit', 'cities', '--dance', '-m', 'x'], 'Unknown argument: dance'],
  [['--', 'commit', 'cities', '-m', 'x'], 'no command: words after a lone -- are not commands'],
  [['remove', 'cities', 'd1', '--', 'd2'], 'd2: this command takes no arguments after a lone --'],
  [['commit', 'cities', '-m', 'x', '--', '--plan', '3f9c'], /^--plan 3f9c: .*takes no arguments /],
  [['--json', '--', 'list'], 'no command: words after a lone -- are not commands'],
])('the words %j are refused with %s', async (words, message) => {
  await expect(parseCommandLine(words)).rejects.toMatchObject({
    message: typeof message === 'string' ? message : expect.stringMatching(message),
  });
});

test('without arguments the help lists every command and the exit codes', async () => {
  const parsed = await parseCommandLine([]);
  const help = parsed.kind === 'help' ? parsed.text : '';
  for (const { usage } of commands) expect(help).toContain(`ring-builder ${usage}`);
  expect(help).toContain('Exit codes: 0 done');
});

test.each([48, 72, 132])('the help fits and uses a terminal of %d columns', async (columns) => {
  for (const args of [['--help'], ['rollout', '--help']]) {
    const parsed = await parseCommandLine(args, columns);
    const lines = parsed.kind === 'help' ? parsed.text.split('\n') : [];
    const widest = Math.max(...lines.map(({ length }) => length));
    expect(widest).toBeLessThanOrEqual(columns);
    expect(widest).toBeGreaterThan(columns - 16);
  }
});

test('arguments stay text, a lone dash is kept, and -- ends the options', async () => {
  const parsed = await parseCommandLine(['lookup', 'c', '007', '1e3', '-', '--', '--json']);
  if (parsed.kind !== 'run') throw new Error(parsed.text);
  expect(parsed.args.texts('keys')).toEqual(['007', '1e3', '-']);
  expect(parsed.args.texts('--')).toEqual(['--json']);
  expect(parsed.args.has('json')).toBe(false);
});

// yargs would reinterpret the words of number and array options.
test.for(commands)(
  'options of $usage are strings or booleans with a description',
  async (entry) => {
    const { command } = await entry.load();
    for (const [name, { type, describe }] of Object.entries(command.options ?? {})) {
      expect(['string', 'boolean'], name).toContain(type);
      expect(describe, name).toBeTruthy();
    }
  },
);

test.each([
  ['list --rings', '--rings needs a value'],
  ['set two --replicas', '--replicas needs a value'],
  ['commit two -m', '-m needs a value'],
  ['commit two -m --json', '-m needs a value'],
  ['rollout two --window', '--window needs a value'],
  ['push two --to', '--to needs a value'],
])('an option without its value is refused as USAGE: %s', async (line, message) => {
  const parsing = parseCommandLine(line.split(' '));
  await expect(parsing).rejects.toMatchObject({ code: 'USAGE', exit: 2, message });
});

test.each(['trash two', 'moves two', 'merge two 3', 'replace', 'completion'])(
  'a missing argument is refused with the usage of the command: %s',
  async (line) => {
    const [command] = line.split(' ');
    const usage = commands.find((one) => one.usage.startsWith(`${command} `))?.usage;
    const parsing = parseCommandLine(line.split(' '));
    const message = `missing argument: ring-builder ${usage}`;
    await expect(parsing).rejects.toMatchObject({ code: 'USAGE', message });
  },
);
