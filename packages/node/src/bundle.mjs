// The programs as bundles: a few JavaScript files with all modules of a program. Node takes a
// millisecond of CPU to find and read a module, and a server has seven hundred.
// tools/house/bundle.mjs makes the bundles; if a source has changed since, the sources run instead.
// JavaScript, like prepare-node.mjs, because it runs before anything else is loaded.
import fs from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Path of the checkout, with a trailing slash. */
export const checkout = fileURLToPath(import.meta.url).replace(/packages\/[^/]+\/src\/[^/]+$/, '');

/** Not in node_modules, which npm empties: running servers start programs of their bundle later. */
export function bundlesFolder(root) {
  return `${root}.bundles`;
}

/** Identifies an unchanged file: its modification time and size. */
export function stampOf(root, file) {
  const found = fs.statSync(root + file, { throwIfNoEntry: false });
  return found === undefined ? null : { file, ms: found.mtimeMs, bytes: found.size };
}

/** The folder of the newest bundles; null if there is none, or a source has changed since. */
export function freshBundles(root) {
  let list;
  try {
    list = JSON.parse(fs.readFileSync(`${bundlesFolder(root)}/newest.json`, 'utf8'));
  } catch {
    return null;
  }
  const isAsItWas = ({ file, ms, bytes }) => {
    const now = stampOf(root, file);
    return now !== null && now.ms === ms && now.bytes === bytes;
  };
  return list.sources.every(isAsItWas) ? `${bundlesFolder(root)}/${list.folder}` : null;
}

/**
 * The URL that a launcher imports: the bundle of its program; null if its sources must run. If Node
 * was told to load something first (--import), the sources run: it may observe modules or inject
 * faults into them.
 */
export function bundleOf(program, root = checkout) {
  if (process.execArgv.some((word) => word.startsWith('--import'))) return null;
  const folder = freshBundles(root);
  const file = `${folder}/${program}.mjs`;
  return folder !== null && fs.existsSync(file) ? pathToFileURL(file).href : null;
}
