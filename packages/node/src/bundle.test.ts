// Changed sources are run themselves: a bundle is never older than its sources.
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { bundleOf, bundlesFolder, freshBundles, stampOf } from './bundle.mjs';

/** Creates a checkout with two sources and the bundle made of them. */
async function checkoutWithBundle() {
  const root = `${await mkdtemp(join(tmpdir(), 'checkout-'))}/`;
  const files = ['main.ts', 'part.ts'];
  for (const file of files) await writeFile(root + file, 'let a = 1;');
  const folder = join(bundlesFolder(root), 'one');
  await mkdir(folder, { recursive: true });
  const program = join(folder, 'tool.mjs');
  await writeFile(program, '');
  const sources = files.map((file) => stampOf(root, file));
  const list = JSON.stringify({ folder: 'one', sources });
  await writeFile(join(bundlesFolder(root), 'newest.json'), list);
  return { root, program };
}

test('a bundle is run while all of its sources are unchanged', async () => {
  const { root, program } = await checkoutWithBundle();
  expect(bundleOf('tool', root)).toBe(pathToFileURL(program).href);
  expect(bundleOf('other', root)).toBe(null);
  await rm(program);
  expect(bundleOf('tool', root)).toBe(null);
});

test.each<[change: string, make: (root: string) => Promise<void>]>([
  ['another text of the same time', (root) => writeFile(`${root}part.ts`, 'let a = 12;')],
  ['another time', (root) => utimes(`${root}part.ts`, 1, 1)],
  ['a source that is gone', (root) => rm(`${root}main.ts`)],
  ['a list that is gone', (root) => rm(`${bundlesFolder(root)}/newest.json`)],
  ['a list cut short', (root) => writeFile(`${bundlesFolder(root)}/newest.json`, '{"fol')],
])('%s: the sources are run', async (_change, make) => {
  const { root } = await checkoutWithBundle();
  await make(root);
  expect([freshBundles(root), bundleOf('tool', root)]).toEqual([null, null]);
});
