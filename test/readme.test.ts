// The README and the programs agree: every command is listed, and what it names exists.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { verbs } from '../tools/ring-builder/verbs.ts';

const root = path.join(import.meta.dirname, '..');
const readme = readFileSync(path.join(root, 'README.md'), 'utf8');
const scripts = Object.keys(
  JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')).scripts,
);

test('every command of ring-builder is in the table, and nothing else is', () => {
  const [table = ''] = /^\| to +\| commands[\s\S]*?\n\n/m.exec(readme) ?? [];
  const listed = [...table.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name);
  const known = verbs.map(({ usage }) => usage.split(' ', 1)[0]);
  expect(new Set(listed)).toEqual(new Set(known));
  expect(listed.length).toBe(known.length);
});

test('every npm script that is named exists', () => {
  const named = [...readme.matchAll(/npm run ([a-z][a-z:]+)/g)].map(([, name]) => name);
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((name) => !scripts.includes(name ?? ''))).toEqual([]);
});

test('the license that package.json names lies beside it', () => {
  const { license } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  expect(license).toBe('Apache-2.0');
  const text = readFileSync(path.join(root, 'LICENSE'), 'utf8');
  expect(text).toMatch(/^\s+Apache License\n\s+Version 2\.0, January 2004\n/);
  expect(text).toContain('END OF TERMS AND CONDITIONS');
});

test('what is posted as JSON in an example says so, as servers demand', () => {
  const examples = readme.replaceAll(/\\\n\s*/g, '').split('\n');
  const posts = examples.filter((line) => /^ {4}curl .*_batch/.test(line));
  expect(posts.length).toBeGreaterThan(0);
  for (const line of posts) expect(line).toContain("-H 'content-type: application/json'");
});

test('every path that is named exists', () => {
  const named = [...readme.matchAll(/`((?:packages|tools|test)\/[\w./-]+)`/g)];
  expect(named.length).toBeGreaterThan(10);
  const missing = named
    .map(([, name]) => name ?? '')
    .filter((name) => !existsSync(path.join(root, name)));
  expect(missing).toEqual([]);
});
