// Rules: imports only go down the layers, and no relative path leaves its package. A package
// declares what it imports, and nothing else. Pure.
import path from 'node:path';
import type { Complaint } from '../complaint.ts';
import type { SourceFile } from '../source-file.ts';
import { packageOfSpecifier, type Workspace, workspaceOf } from '../workspace.ts';

/** Bottom first. Packages of one layer do not import each other. */
const LAYERS: readonly (readonly string[])[] = [
  ['packages/base'],
  ['packages/ring'],
  ['packages/builder'],
  ['packages/swift'],
  ['packages/wire'],
  ['packages/access'],
  ['packages/node'],
  ['packages/head-store'],
  ['packages/repository', 'packages/partition'],
  ['packages/server', 'packages/client'],
];

const TOOLS_LAYER = LAYERS.length;

/** A test that is run by hand: it uses the support code of the other tests. */
const TEST_PROGRAM = 'tools/torture';

/** Packages for tests are in the root's devDependencies. */
const TEST_PACKAGES = new Set(['vitest', 'fast-check']);

function layerOf(folder: string): number | null {
  if (folder.startsWith('tools/')) return TOOLS_LAYER;
  const layer = LAYERS.findIndex((folders) => folders.includes(folder));
  return layer === -1 ? null : layer;
}

export function checkImportDirection(
  files: readonly SourceFile[],
  workspaces: readonly Workspace[],
): Complaint[] {
  return files.flatMap((source) => {
    const own = workspaceOf(source.file, workspaces);
    if (own === null) return [];
    if (layerOf(own.folder) === null) {
      const message = `${own.folder} has no layer: add it to rules/import-direction.ts`;
      return [{ file: source.file, line: 0, message }];
    }
    return source.imports.flatMap(({ specifier, line }) => {
      const message = complaintAbout(source, specifier, { own, workspaces });
      return message === null ? [] : [{ file: source.file, line, message }];
    });
  });
}

function complaintAbout(
  { file, isTest }: SourceFile,
  specifier: string,
  { own, workspaces }: { own: Workspace; workspaces: readonly Workspace[] },
): string | null {
  if (specifier.startsWith('.')) {
    const target = path.posix.join(path.posix.dirname(file), specifier);
    if (target.startsWith(`${own.folder}/`)) return null;
    const mayUseSupport = isTest || own.folder === TEST_PROGRAM;
    if (mayUseSupport && target.startsWith('test/support/')) return null;
    return `'${specifier}' leaves ${own.folder}: import the other package by its name`;
  }
  const imported = workspaces.find((workspace) => workspace.name === packageOfSpecifier(specifier));
  if (imported === undefined || imported === own) return null;
  if (isBelow(imported.folder, own.folder)) return null;
  return `${own.folder} may not import ${imported.folder}: imports only go down; move the shared part lower`;
}

function isBelow(other: string, own: string): boolean {
  return (layerOf(other) ?? TOOLS_LAYER) < (layerOf(own) ?? 0);
}

export function checkDeclaredDependencies(
  files: readonly SourceFile[],
  workspaces: readonly Workspace[],
): Complaint[] {
  return files.flatMap((source) => {
    const own = workspaceOf(source.file, workspaces);
    if (own === null) return [];
    return source.imports.flatMap(({ specifier, line }) => {
      const name = packageOfSpecifier(specifier);
      if (name === null || name === own.name || own.dependencies.has(name)) return [];
      if (TEST_PACKAGES.has(name) && (source.isTest || own.folder === 'tools/house')) return [];
      const message = `'${name}' is no dependency in ${own.folder}/package.json: declare it there`;
      return [{ file: source.file, line, message }];
    });
  });
}

/** Finds dependencies that are declared, but never imported. */
export function checkUnusedDependencies(
  files: readonly SourceFile[],
  workspaces: readonly Workspace[],
): Complaint[] {
  return workspaces.flatMap(({ folder, dependencies }) => {
    const ownFiles = files.filter(({ file }) => file.startsWith(`${folder}/`));
    const used = new Set(
      ownFiles.flatMap(({ imports }) =>
        imports.map(({ specifier }) => packageOfSpecifier(specifier)),
      ),
    );
    return [...dependencies]
      .filter((name) => !used.has(name))
      .map((name) => ({
        file: `${folder}/package.json`,
        line: 0,
        message: `nobody imports '${name}': remove it`,
      }));
  });
}
