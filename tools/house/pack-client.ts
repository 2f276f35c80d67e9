// Program: npm run pack:client -- FOLDER makes the client a package for programs outside this
// checkout: one JavaScript file, and the types that its callers see.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { programVersion } from '@ringwright/base/program-version';
import { rolldown } from 'rolldown';

const root = path.resolve(import.meta.dirname, '../..');

/** The package's exports: its calls, their parameters and results, and their errors. */
const VALUES = `export { connect } from '@ringwright/client/connect';
export { CodedError } from '@ringwright/base/coded-error';
`;
const TYPES = `${VALUES}export type * from '@ringwright/client/options';
export type * from '@ringwright/client/client';
export type { ScannedRecord } from '@ringwright/client/scan';
export type { ConsistencyLevel } from '@ringwright/wire/coordination';
export type { ErrorCode } from '@ringwright/base/errors';
`;

/** Packages that the client's types come from. */
const TYPED = ['base', 'client', 'node', 'ring', 'wire'];

/** Third-party packages that the client needs; the application installs them. */
const OUTSIDE = ['msgpackr', 'ws', 'zod'];

async function bundleCode(stage: string): Promise<void> {
  const entry = path.join(root, 'packages/client/src/the-entry.ts');
  const build = await rolldown({
    ...{ input: entry, platform: 'node', external: OUTSIDE, logLevel: 'warn' },
    plugins: [
      {
        name: 'entry',
        resolveId: resolveOnly(entry),
        load: (id) => (id === entry ? VALUES : null),
      },
    ],
  });
  await build.write({ file: path.join(stage, 'client.mjs'), format: 'esm', codeSplitting: false });
  await build.close();
}

const resolveOnly = (entry: string) => (id: string) => (id === entry ? id : null);

/** Compiles types for each source, and copies the files that the client's types need, by path. */
function copyTypes(stage: string, buildFolder: string): void {
  const sources = TYPED.map((name) => path.join(root, 'packages', name, 'src'));
  const compilerOptions = {
    ...{ noEmit: false, allowJs: false, declaration: true, emitDeclarationOnly: true },
    ...{ rootDir: root, outDir: buildFolder, typeRoots: [path.join(root, 'node_modules/@types')] },
  };
  const config = path.join(buildFolder, 'tsconfig.json');
  const exclude = [path.join(root, 'packages/**/*.test.ts')];
  const tsconfig = { extends: path.join(root, 'tsconfig.json'), compilerOptions };
  fs.writeFileSync(config, JSON.stringify({ ...tsconfig, include: sources, exclude }));
  execFileSync(path.join(root, 'node_modules/.bin/tsc'), ['-p', config], { stdio: 'inherit' });
  const entry = path.join(buildFolder, 'client.d.mts');
  fs.writeFileSync(entry, TYPES);
  const left = [entry];
  const known = new Set(left);
  for (const file of left) {
    const text = fs.readFileSync(file, 'utf8');
    const rewritten = text.replace(
      /(['"])(@ringwright\/[^'"]+|\.[^'"]+\.ts)\1/g,
      (_, quote, name) => {
        const found = typesOf(String(name), file, buildFolder);
        if (!known.has(found)) left.push(found);
        known.add(found);
        const relative = path.relative(path.dirname(file), found).replace(/\.d\.ts$/, '.js');
        return `${quote}${relative.startsWith('.') ? relative : `./${relative}`}${quote}`;
      },
    );
    const copy = path.join(stage, path.relative(buildFolder, file));
    fs.mkdirSync(path.dirname(copy), { recursive: true });
    fs.writeFileSync(copy, rewritten);
  }
}

function typesOf(name: string, from: string, buildFolder: string): string {
  const [, scope, rest = ''] = /^@ringwright\/([^/]+)\/(.+)$/.exec(name) ?? [];
  if (scope !== undefined) return path.join(buildFolder, 'packages', scope, 'src', `${rest}.d.ts`);
  return path.resolve(path.dirname(from), name.replace(/\.ts$/, '.d.ts'));
}

function describe(stage: string): void {
  const conditions = { types: './client.d.mts', default: './client.mjs' };
  const text = {
    ...{ name: '@ringwright/client', version: programVersion, license: 'Apache-2.0' },
    ...{ description: 'Reads and writes of Ringwright storage servers', type: 'module' },
    exports: { '.': conditions, './connect': conditions },
    engines: { node: '>=24' },
    dependencies: Object.fromEntries(OUTSIDE.map((name) => [name, versionOf(name)])),
  };
  fs.writeFileSync(path.join(stage, 'package.json'), `${JSON.stringify(text, null, 2)}\n`);
  fs.copyFileSync(path.join(root, 'LICENSE'), path.join(stage, 'LICENSE'));
}

/** Returns the installed version, which the client was tested with. */
function versionOf(name: string): string {
  const text = fs.readFileSync(path.join(root, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

const [to] = process.argv.slice(2);
if (to === undefined) {
  process.stderr.write('into which folder? npm run pack:client -- FOLDER\n');
  process.exit(2);
}
// npm runs its scripts in the checkout, wherever the command was typed.
const folder = path.resolve(process.env['INIT_CWD'] ?? '.', to);
const buildFolder = fs.mkdtempSync(path.join(os.tmpdir(), 'ringwright-client-'));
const stage = path.join(buildFolder, 'package');
try {
  fs.mkdirSync(stage);
  fs.mkdirSync(folder, { recursive: true });
  await bundleCode(stage);
  copyTypes(stage, buildFolder);
  describe(stage);
  const args = ['pack', stage, '--pack-destination', folder, '--silent'];
  const name = execFileSync('npm', args, { encoding: 'utf8' }).trim();
  const file = path.join(folder, name);
  process.stdout.write(`${file}\n\nNext, where your program is: npm install ${file}\n`);
} finally {
  fs.rmSync(buildFolder, { recursive: true });
}
