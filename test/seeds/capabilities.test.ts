// The page on what the five texts ask for names only tests and files that exist.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.join(import.meta.dirname, '../..');
const page = readFileSync(path.join(import.meta.dirname, 'README.md'), 'utf8');

test('every row of the page names what shows it, or says that it is not there', () => {
  const rows = page.split('\n').filter((line) => /^\| (?!the text|-)/.test(line));
  expect(rows).toHaveLength(71);
  for (const row of rows) expect(row, row).toMatch(/`[^`]+` ?.*\|$|\*\*Not there\*\*/);
});

test('every test and file that the page names exists', () => {
  const short = [...page.matchAll(/`(e2e|seeds)\/([a-z][\w-]+)`/g)].map(
    ([, folder, name]) => `test/${folder}/${name}.test.ts`,
  );
  const full = [...page.matchAll(/`((?:packages|tools|test)\/[\w./-]+)`/g)].map(([, file]) => file);
  const named = [...short, ...full.map((file) => file ?? '')];
  expect(named.length).toBeGreaterThan(60);
  const missing = named.filter((name) => !/\/x\./.test(name) && !existsSync(path.join(root, name)));
  expect(missing).toEqual([]);
});
