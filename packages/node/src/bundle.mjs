// The programs as bundles: some files of JavaScript that hold all modules of a program. To find and
// to read one takes Node a millisecond of a processor, and a server has seven hundred.
// tools/house/bundle.mjs makes them; where a source has changed since, the sources are run.
// JavaScript, like prepare-node.mjs: it runs before anything else is loaded.
import fs from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Of the checkout, with a slash at its end. */
export const checkout = fileURLToPath(import.meta.url).replace(/packages\/[^/]+\/src\/[^/]+$/, '');

/** Not in node_modules, which npm empties: servers that run start programs of their bundle later. */
export function bundlesFolder(root) {
  return `${root}.bundles`;
}

/** What says that a file is as it was: when it was changed, and its size. */
export function stampOf(root, file) {
  const found = fs.statSync(root + file, { throwIfNoEntry: false });
  return found === undefined ? null : { file, ms: found.mtimeMs, bytes: found.size };
}

/** The folder of the newest bundles; null without any, and when a source has changed since. */
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
 * What a launcher imports: the bundle of its program; null where its sources are to be taken. Where
 * Node was told to load something first (--import), that may watch modules, or put faults into
 * them: then there have to be modules.
 */
export function bundleOf(program, root = checkout) {
  if (process.execArgv.some((word) => word.startsWith('--import'))) return null;
  const folder = freshBundles(root);
  const file = `${folder}/${program}.mjs`;
  return folder !== null && fs.existsSync(file) ? pathToFileURL(file).href : null;
}
