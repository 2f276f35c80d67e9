// Makes the bundles of the programs anew where a source has changed (packages/node/src/bundle.mjs).
// Without them everything works, and starts slower.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import {
  bundlesFolder,
  freshBundles,
  publishBundles,
  checkout as root,
  stampOf,
} from '@ringwright/node/bundle';

const bundles = bundlesFolder(root);

/** What a person starts, and what those programs start: by the name of the file that is made. */
const PROGRAMS = {
  'ring-builder': 'tools/ring-builder/main.ts',
  'ring-server': 'tools/ring-server/main.ts',
  'ring-worker': 'packages/server/src/rings/ring-worker.ts',
  'copy-program': 'packages/partition/src/carry/copy-program.ts',
  'side-program': 'packages/partition/src/side/side-program.ts',
};

/** Folders of bundles that stay: a program that runs loads parts of its own later. */
const FOLDERS_KEPT = 4;

/** A program that another one starts lies beside it in the bundle, as JavaScript. */
const besideIt = {
  name: 'programs beside the bundle',
  transform: (code, id) =>
    id.startsWith(path.join(root, 'packages')) && code.includes('import.meta.url')
      ? code.replace(/new URL\('\.\/([a-z-]+)\.ts', import\.meta\.url\)/g, (all, name) =>
          name in PROGRAMS ? `new URL('./${name}.mjs', import.meta.url)` : all,
        )
      : null,
};

async function bundle() {
  process.stderr.write('ringwright: bundling the programs (once after a change, about 2 s) …\n');
  const begunMs = Date.now();
  const { rolldown } = await import('rolldown');
  const made = path.join(bundles, `making-${process.pid}`);
  const input = Object.fromEntries(
    Object.entries(PROGRAMS).map(([name, file]) => [name, path.join(root, file)]),
  );
  const build = await rolldown({
    ...{ input, platform: 'node', logLevel: 'warn' },
    // With its native part it stays where npm has put it.
    external: ['better-sqlite3'],
    plugins: [besideIt],
  });
  const names = { entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' };
  const { output } = await build.write({ dir: made, format: 'esm', ...names });
  await build.close();
  const lost = output.find(({ code = '' }) => /new URL\([^)]*\.ts\b/.test(code));
  if (lost !== undefined) throw new Error(`${lost.fileName} starts a program that PROGRAMS lacks`);
  const sources = sourcesOf(output.flatMap(({ moduleIds = [] }) => moduleIds));
  // A source that was saved meanwhile may be in there as it was before.
  if (sources.some(({ ms }) => ms >= begunMs && ms <= Date.now())) {
    fs.rmSync(made, { recursive: true });
    return;
  }
  const folder = createHash('sha256').update(JSON.stringify(sources)).digest('hex').slice(0, 16);
  const place = path.join(bundles, folder);
  if (fs.existsSync(place)) fs.rmSync(made, { recursive: true });
  else fs.renameSync(made, place);
  publishBundles(root, folder, sources);
  removeOld(folder);
}

/** Packages from elsewhere change only with node_modules, and then the bundles go too. */
function sourcesOf(modules) {
  const own = modules.map((id) => path.relative(root, id));
  const packages = ['packages', 'tools'].flatMap((folder) =>
    fs.readdirSync(path.join(root, folder)).map((name) => `${folder}/${name}/package.json`),
  );
  return [...own.filter((file) => /^(packages|tools)\//.test(file)), ...packages]
    .sort((a, b) => (a < b ? -1 : 1))
    .map((file) => stampOf(root, file))
    .filter((stamp) => stamp !== null);
}

function removeOld(newest) {
  const folders = fs
    .readdirSync(bundles)
    .filter((name) => name !== newest && !name.includes('.'))
    .map((name) => ({ name, ms: fs.statSync(path.join(bundles, name)).mtimeMs }))
    .sort((a, b) => b.ms - a.ms);
  for (const { name } of folders.slice(FOLDERS_KEPT - 1)) {
    fs.rmSync(path.join(bundles, name), { recursive: true, force: true });
  }
}

if (freshBundles(root) === null) {
  await bundle().catch((error) => {
    // A checkout that cannot be written is run as it is.
    if (error.code === 'EACCES' || error.code === 'EROFS') return;
    process.stderr.write(`ringwright: programs start slower, no bundle: ${error.message}\n`);
  });
}
