// Tests what reaches the terminal: escaped text, and no control codes but the program's own colors
// and cursor moves.
import { expect, test } from 'vitest';
import { ringBuilderProgramIn } from '../../../test/support/ring-builder-program.ts';
import { printError } from '../print-error.ts';
import { Terminal } from './terminal.ts';

function shown(colors: boolean): { readonly terminal: Terminal; readonly written: () => string } {
  let written = '';
  const write = (text: string): void => void (written += text);
  return { terminal: new Terminal({ write, colors }), written: () => written };
}

test('control characters are escaped, and only the requested colors are written', () => {
  const { terminal, written } = shown(true);
  terminal.lines(['a\nb\u001b[2J', { style: 'red', text: 'x\u001b[0m', rest: ' y\u202e' }]);
  terminal.erase(2);
  terminal.erase(0);
  expect(written()).toBe(
    'a\\u000ab\\u001b[2J\n\u001b[31mx\\u001b[0m\u001b[39m y\\u202e\n\u001b[2A\u001b[0J',
  );
});

test('a BUG error keeps the lines of its stack trace, and a pipe gets no colors', () => {
  const { terminal, written } = shown(false);
  const bug = new Error('odd\u001b');
  bug.stack = 'Error: odd\u001b\n    at here';
  terminal.lines(
    printError(bug, {
      inJson: false,
      naming: { ringsOption: '', serverOptions: '', ring: undefined },
      help: '',
    }).lines,
  );
  expect(written()).toMatch(/^error BUG: Error: odd\\u001b\n {4}at here\nhint: /);
});

test('text output is escaped, and JSON keeps the text', { timeout: 60_000 }, async () => {
  const tool = await ringBuilderProgramIn();
  const evil = '\u001b]0;owned\u0007\u009b2J\u007f\u202eevil\u2028\nNext: rm';
  await tool.json('create cities --partition-power 3 --replicas 1');
  await tool.json(['add', 'cities', `r1z1-10.0.0.1:6200/sdb_${evil}`, '1']);
  await tool.json(['commit', 'cities', '-m', evil]);
  const commands = [
    ['log', 'cities'],
    ['show', 'cities'],
    ['log', 'cities', '--json'],
    ['table', 'cities', '--json'],
    ['show', 'cities', evil],
    ['import-swift', `/absent${evil}`, 'x', '--json'],
  ];
  const printed = await Promise.all(commands.map((args) => tool.run(args)));
  for (const [at, { stdout, stderr }] of printed.entries()) {
    expect(stdout + stderr, commands[at]!.join(' ')).not.toMatch(/[^\n\P{Cc}]|[\u2028\u202e]/u);
    expect(stdout + stderr).not.toMatch(/^Next: rm/m);
  }
  expect(printed[0]!.stdout).toContain('\\u001b]0;owned\\u0007\\u009b2J\\u007f');
  const [, , log, table] = printed;
  expect(JSON.parse(log!.stdout).entries.at(-1)).toMatchObject({ message: evil });
  expect(JSON.parse(table!.stdout).devices[0]).toMatchObject({ meta: evil });
  expect(JSON.parse(printed[5]!.stderr).message).toContain(evil);
});
