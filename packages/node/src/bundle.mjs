// The programs as bundles: some files of JavaScript that hold all modules of a program. To find and
// to read one takes Node a millisecond of a processor, and a server has seven hundred.
// tools/house/bundle.mjs makes them; where a source has changed since, the sources are run.
// JavaScript, like prepare-node.mjs: it runs before anything else is loaded.
import fs from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Of the checkout, with a slash at its end. */
export const checkout = fileURLToPath(import.meta.url).replace(/packages\/[^/]+\/src\/[^/]+$/, '');

/** Where bundles lie: with node_modules they go, and what they hold of it. */
export function bundlesFolder(root) {
  return `${root}node_modules/.cache/ringwright/bundles`;
}

/** What says that a source is as it was, as git asks: when it was changed, and its size. */
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

/** From now on they are the newest: in one step, so a reader sees a whole list. */
export function publishBundles(root, folder, sources) {
  const file = `${bundlesFolder(root)}/newest.json`;
  const aside = `${file}.${process.pid}`;
  fs.writeFileSync(aside, JSON.stringify({ folder, sources }));
  fs.renameSync(aside, file);
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
