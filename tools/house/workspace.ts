// The packages of the checkout, with their dependencies and exports.
import fs from 'node:fs';
import path from 'node:path';

export interface Workspace {
  /** Folder from the root: `packages/ring`. */
  readonly folder: string;
  /** Name in imports of others: `@ringwright/ring`. */
  readonly name: string;
  readonly dependencies: ReadonlySet<string>;
  /** Paths that others may import: `./ring`. */
  readonly exports: ReadonlySet<string>;
}

export function readWorkspaces(root: string): Workspace[] {
  return ['packages', 'tools'].flatMap((folder) =>
    fs
      .readdirSync(path.join(root, folder))
      .map((name) => `${folder}/${name}`)
      .filter((inner) => fs.existsSync(path.join(root, inner, 'package.json')))
      .map((inner) => readWorkspace(root, inner)),
  );
}

function readWorkspace(root: string, folder: string): Workspace {
  // Our own file: npm checks its shape at every install.
  const content = JSON.parse(fs.readFileSync(path.join(root, folder, 'package.json'), 'utf8')) as {
    name: string;
    dependencies?: Record<string, string>;
    exports?: Record<string, string>;
  };
  return {
    folder,
    name: content.name,
    dependencies: new Set(Object.keys(content.dependencies ?? {})),
    exports: new Set(Object.keys(content.exports ?? {})),
  };
}

export function workspaceOf(file: string, workspaces: readonly Workspace[]): Workspace | null {
  return workspaces.find((workspace) => file.startsWith(`${workspace.folder}/`)) ?? null;
}

/** Returns `@scope/name` or `name` of a specifier; null for relative paths and Node modules. */
export function packageOfSpecifier(specifier: string): string | null {
  if (specifier.startsWith('.') || specifier.startsWith('node:')) return null;
  const parts = specifier.split('/');
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? null);
}
