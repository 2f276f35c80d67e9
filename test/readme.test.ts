// The README, the glossary and the design pages agree with the programs: every command is listed,
// and what they name exists. The same holds for the tests of SECURITY.md.
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { programVersion } from '@ringwright/base/program-version';
import { wireVersion } from '@ringwright/wire/wire-version';
import { expect, test } from 'vitest';
import { commandGroups } from '../tools/ring-builder/command-groups.ts';

const root = path.join(import.meta.dirname, '..');
const readme = readFileSync(path.join(root, 'README.md'), 'utf8');
const scripts = Object.keys(
  JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')).scripts,
);

test('the table of commands has the groups and the order of the help', () => {
  const [table = ''] = /^\| to +\| commands[\s\S]*?\n\n/m.exec(readme) ?? [];
  const rows = [...table.matchAll(/^\| (.*?) +\| (`.*`) +\|$/gm)];
  const listed = rows.map(([, to, names]) => `${to}: ${names?.replaceAll('`', '')}`);
  const known = commandGroups.map(({ to, commands }) => {
    return `${to}: ${commands.map(({ name }) => name).join(' ')}`;
  });
  expect(listed).toEqual(known);
});

test('every npm script that the README names exists', () => {
  const named = [...readme.matchAll(/npm run ([a-z][a-z:]+)/g)].map(([, name]) => name);
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((name) => !scripts.includes(name ?? ''))).toEqual([]);
});

test('the README, package.json and bootstrap.mjs name one version of Node', () => {
  const { engines } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const bootstrap = readFileSync(path.join(root, 'tools/house/bootstrap.mjs'), 'utf8');
  const [, inReadme] = /Linux, Node (\d+) or newer/.exec(readme) ?? [];
  const [, inBootstrap] = /own Node \((\d+) or newer\)/.exec(bootstrap) ?? [];
  expect([`>=${inReadme}`, `>=${inBootstrap}`]).toEqual([engines.node, engines.node]);
});

test('the README names the present release and its wire version', () => {
  expect(readme).toContain(`${programVersion} speaks wire version ${wireVersion}`);
});

test('the LICENSE file is the license that package.json names', () => {
  const { license } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  expect(license).toBe('Apache-2.0');
  const text = readFileSync(path.join(root, 'LICENSE'), 'utf8');
  expect(text).toMatch(/^\s+Apache License\n\s+Version 2\.0, January 2004\n/);
  expect(text).toContain('END OF TERMS AND CONDITIONS');
});

test('every example that posts JSON sends the content type that servers require', () => {
  const examples = readme.replaceAll(/\\\n\s*/g, '').split('\n');
  const posts = examples.filter((line) => /^ {4}curl .*_batch/.test(line));
  expect(posts.length).toBeGreaterThan(0);
  for (const line of posts) expect(line).toContain("-H 'content-type: application/json'");
});

test('every path that the README names exists', () => {
  const named = [...readme.matchAll(/`((?:packages|tools|test)\/[\w./-]+)`/g)];
  expect(named.length).toBeGreaterThan(10);
  const missing = named
    .map(([, name]) => name ?? '')
    .filter((name) => !existsSync(path.join(root, name)));
  expect(missing).toEqual([]);
});

test('every attack in SECURITY.md has a defense and existing tests', () => {
  const page = readFileSync(path.join(root, 'packages/server/SECURITY.md'), 'utf8');
  const [, table = ''] = page.split('\n| attack ');
  const rows = [
    ...(table.split('\n\n')[0] ?? '').matchAll(/^\| (\w.*?) +\| (.+?) +\| (.*?) +\|$/gm),
  ];
  expect(rows.length).toBeGreaterThan(20);
  const files = globSync('{packages,tools,test}/**/*.test.ts', { cwd: root });
  const untested = rows.flatMap(([, attack, , tests = '']) => {
    const named = [...tests.matchAll(/`([\w-]+)`( \(e\))?/g)];
    const missing = named.filter(([, name, isEndToEnd]) => {
      const folder = isEndToEnd === undefined ? '/' : 'test/e2e/';
      return !files.some((file) => file.endsWith(`${folder}${name}.test.ts`));
    });
    return named.length === 0 ? [attack] : missing.map(([, name]) => `${attack}: ${name}`);
  });
  expect(untested).toEqual([]);
});

test('the glossary has each word once, in order, with a file that exists', () => {
  expect(readme).toContain('](GLOSSARY.md)');
  const glossary = readFileSync(path.join(root, 'GLOSSARY.md'), 'utf8');
  const entries = glossary.replaceAll(/\n {2}/g, ' ').matchAll(/^- \*\*(.+?)\*\*: .*$/gm);
  const words: string[] = [];
  for (const [entry, word = ''] of entries) {
    words.push(word.toLowerCase());
    const [, file = 'none'] = /`((?:packages|tools)\/[\w./-]+)`/.exec(entry) ?? [];
    expect(existsSync(path.join(root, file)), `${word}: ${file}`).toBe(true);
  }
  expect(words.length).toBeGreaterThan(100);
  expect(words).toEqual([...new Set(words)].sort());
});

const pages = [
  'README.md',
  'GLOSSARY.md',
  ...globSync('{packages,tools,test}/**/*.md', { cwd: root, exclude: ['**/node_modules'] }),
];

test('every page that a page links to exists', () => {
  let links = 0;
  for (const page of pages) {
    const text = readFileSync(path.join(root, page), 'utf8');
    for (const [, to = ''] of text.matchAll(/\]\(([^)#:]+\.md)\)/g)) {
      links += 1;
      expect(existsSync(path.join(root, path.dirname(page), to)), `${page}: ${to}`).toBe(true);
    }
  }
  expect(links).toBeGreaterThan(10);
});

test('every source file that a page names exists, in the folder that the page names', () => {
  const sources = globSync('{packages,tools,test}/**/*.ts', { cwd: root });
  const known = sources.map((file) => `/${file.replace('/src/', '/')}`);
  const missing = pages.flatMap((page) => {
    const text = readFileSync(path.join(root, page), 'utf8');
    const named = [...text.matchAll(/`(?:[\w-]+: )?((?:[\w.-]+\/)*[\w.-]{2,}\.ts)`/g)];
    return named
      .map(([, name = '']) => name.replace(/^(\.\.\/)+|\bsrc\//g, ''))
      .filter((name) => !known.some((file) => file.endsWith(`/${name}`)) && !/\bx\./.test(name))
      .map((name) => `${page}: ${name}`);
  });
  expect(missing).toEqual([]);
});
