// A command that is broken into lines for a narrow terminal runs unchanged in a shell.
import { execFileSync } from 'node:child_process';
import { quoteWord } from '@ringwright/base/quote-command';
import { expect, test } from 'vitest';
import { breakCommand } from './break-command.ts';

const args = [
  ...['printf', '%s\\n', 'r1z1-127.0.0.1:45623/sd1', '1', 'six servers in three zones', "it's"],
  ...[
    'a-word-that-is-wider-than-the-narrowest-of-the-terminals-that-are-tried-here',
    '',
    '$HOME \\',
  ],
];

test.each([20, 40, 60, 80, 400])('a command in %d columns keeps its arguments', (columns) => {
  const lines = breakCommand(args.map(quoteWord), columns);
  const [, , ...given] = args;
  const shown = execFileSync('/bin/sh', ['-c', lines.join('\n')], { encoding: 'utf8' });
  expect(shown.split('\n').slice(0, -1)).toEqual(given);
  for (const line of lines) {
    // Only a single word that fits into no line may be wider.
    const parts = line.replace(/ \\$/, '').trim();
    if (parts.includes(' ') && !parts.startsWith("'")) {
      expect(line.length).toBeLessThanOrEqual(columns);
    }
  }
  expect(lines.length === 1).toBe(columns === 400);
});

test('without a terminal a command is one line', () => {
  expect(breakCommand(args, Number.POSITIVE_INFINITY)).toHaveLength(1);
});
