// Changes sources while they are loaded: activates failpoints, and inserts seeded bugs.
import fs from 'node:fs';
import module from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export interface SourcePatch {
  /** Path from the root of the repository. */
  readonly file: string;
  /** Text that occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
}

const root = path.resolve(import.meta.dirname, '../..');
const FAILPOINT = /\/\/ failpoint: ([a-z0-9.-]+)$/gm;

/** The global function that a failpoint calls; without it, a failpoint does nothing. */
export const failpointFunction = 'ringwrightFailpoint';

/** Sources that servers and the operator's command load. */
const patched = ['packages/', 'tools/ring-builder/'];

/** Loads modules with these patches from now on. */
export function patchSources(patches: readonly SourcePatch[]): void {
  module.registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!url.startsWith('file:') || !url.endsWith('.ts')) return loaded;
      const file = path.relative(root, fileURLToPath(url));
      if (!patched.some((folder) => file.startsWith(folder))) return loaded;
      const source = fs.readFileSync(path.join(root, file), 'utf8');
      return { ...loaded, source: patchedSource(file, source, patches) };
    },
  });
}

/** Throws when a patch does not fit: the code has changed, and the patch must follow. */
function patchedSource(file: string, source: string, patches: readonly SourcePatch[]): string {
  let text = source;
  for (const patch of patches) {
    if (patch.file !== file) continue;
    const pieces = text.split(patch.find);
    if (pieces.length !== 2) {
      throw new Error(`${file} has ${pieces.length - 1} times, not once: ${patch.find}`);
    }
    text = pieces.join(patch.replace);
  }
  return text.replaceAll(FAILPOINT, `globalThis.${failpointFunction}?.('$1');`);
}

/** Throws unless every patch fits the present sources. */
export function checkPatches(patches: readonly SourcePatch[]): void {
  for (const file of new Set(patches.map((patch) => patch.file))) {
    patchedSource(file, fs.readFileSync(path.join(root, file), 'utf8'), patches);
  }
}

export function failpointNames(): string[] {
  const files = fs.globSync(['packages/*/src/**/*.ts', 'tools/ring-builder/**/*.ts'], {
    cwd: root,
  });
  const names = files.flatMap((file) => {
    const source = fs.readFileSync(path.join(root, file), 'utf8');
    return [...source.matchAll(FAILPOINT)].map((match) => match[1] ?? '');
  });
  return [...new Set(names)].sort();
}
