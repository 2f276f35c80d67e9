// Rebuilds the bundles of the programs when a source has changed (packages/node/src/bundle.mjs).
// Without bundles everything works, but starts slower.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { bundlesFolder, freshBundles, checkout as root, stampOf } from '@ringwright/node/bundle';
import { renameDurably, replaceDurably, syncFile } from '@ringwright/node/durable-files';

const bundles = bundlesFolder(root);

/** The programs that a user or another program starts, by the name of the bundled file. */
const TOOL_PROGRAMS = { 'ring-builder': 'tools/ring-builder/main.ts' };
const SERVER_PROGRAMS = {
  'ring-server': 'tools/ring-server/main.ts',
  'ring-worker': 'packages/server/src/rings/ring-worker.ts',
  'copy-program': 'packages/partition/src/carrier/copy-program.ts',
  'side-program': 'packages/partition/src/side/side-program.ts',
};
const PROGRAMS = { ...TOOL_PROGRAMS, ...SERVER_PROGRAMS };

/**
 * Code that six commands of ring-builder share is in one file, because Node takes up to a
 * millisecond for each: a rollout would load 140. What every start needs is in a smaller one, so
 * that `--version` loads no more. A module belongs to the first group of the highest priority.
 */
const SHARED_BY_COMMANDS = [
  {
    name: 'start',
    test: /packages\/base\/|\/(arguments|command|missing-file|read-input|read-regular-file)\.ts$/,
    priority: 1,
  },
  { name: 'shared', minShareCount: 6 },
];

/**
 * Number of bundle folders kept, 5 MB each. A running server loads parts and starts helper
 * processes later, so its folder must survive this many upgrades.
 */
const FOLDERS_KEPT = 16;

async function bundle() {
  process.stderr.write('ringwright: bundling the programs (once after a change, about 2 s) …\n');
  const sources = new Map();
  const temporaryFolder = path.join(bundles, `making-${process.pid}`);
  try {
    await writeBundle(temporaryFolder, sources, { programs: SERVER_PROGRAMS });
    await writeBundle(temporaryFolder, sources, {
      programs: TOOL_PROGRAMS,
      codeSplitting: { groups: SHARED_BY_COMMANDS },
    });
    await publish(temporaryFolder, stampsOf(sources));
  } finally {
    fs.rmSync(temporaryFolder, { recursive: true, force: true });
  }
}

/** Bundles one kind of programs. Code of both in one bundle would be cut into more files. */
async function writeBundle(dir, sources, { programs, codeSplitting = true }) {
  const { rolldown } = await import('rolldown');
  const entries = Object.entries(programs).map(([name, file]) => [name, root + file]);
  const build = await rolldown({
    ...{ input: Object.fromEntries(entries), platform: 'node', logLevel: 'warn' },
    // Stays where npm put it, because of its native part.
    external: ['better-sqlite3'],
    plugins: [{ name: 'sources', load: (id) => loadSource(id, sources) }],
  });
  try {
    const names = { entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' };
    const { output } = await build.write({ dir, format: 'esm', codeSplitting, ...names });
    requirePrograms(output);
    // After a power failure a file may exist but be empty, which is a program that does nothing.
    await Promise.all(output.map(({ fileName }) => syncFile(path.join(dir, fileName))));
  } finally {
    await build.close();
  }
}

/**
 * Loads one of our sources and stamps it before it is read, so that a source saved meanwhile counts
 * as changed. A program that another one starts is next to it in the bundle, as JavaScript.
 */
function loadSource(id, sources) {
  const file = path.relative(root, id);
  if (!/^(packages|tools)\/.*\.ts$/.test(file)) return null;
  sources.set(file, stampOf(root, file));
  return fs
    .readFileSync(id, 'utf8')
    .replace(/new URL\('\.\/([a-z-]+)\.ts', import\.meta\.url\)/g, (all, name) =>
      name in PROGRAMS ? `new URL('./${name}.mjs', import.meta.url)` : all,
    );
}

function requirePrograms(output) {
  const lost = output.find(({ code = '' }) => /new URL\([^)]*\.ts\b/.test(code));
  if (lost !== undefined) throw new Error(`${lost.fileName} starts a program that PROGRAMS lacks`);
}

/** Stamps the sources, and the files that define the packages' places and third-party versions. */
function stampsOf(sources) {
  const packages = ['packages', 'tools'].flatMap((folder) =>
    fs.readdirSync(root + folder).map((name) => `${folder}/${name}/package.json`),
  );
  const otherFiles = ['package-lock.json', 'tools/house/bundle.mjs', ...packages];
  return [...sources.values(), ...otherFiles.map((file) => stampOf(root, file))]
    .filter((stamp) => stamp !== null)
    .sort((a, b) => (a.file < b.file ? -1 : 1));
}

async function publish(made, sources) {
  const folder = createHash('sha256').update(JSON.stringify(sources)).digest('hex').slice(0, 16);
  await renameDurably(made, path.join(bundles, folder)).catch((error) => {
    // Another process was faster.
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  });
  await replaceDurably(path.join(bundles, 'newest.json'), JSON.stringify({ folder, sources }));
  removeOld(folder);
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
    // A read-only checkout runs without bundles.
    if (error.code === 'EACCES' || error.code === 'EROFS') return;
    process.stderr.write(`ringwright: programs start slower, no bundle: ${error.message}\n`);
  });
}
