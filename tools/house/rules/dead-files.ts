// Rule: every file is a program, a test, or imported by a file that is not a test. Pure.
import path from 'node:path';
import type { Complaint } from '../complaint.ts';
import type { SourceFile } from '../source-file.ts';
import { packageOfSpecifier, type Workspace } from '../workspace.ts';

/** Programs are started, not imported. */
const PROGRAM =
  /^(tools\/([^/]+\/(main\.ts|launcher\.mjs)|bench\/[^/]+\.ts|house\/(check|bootstrap|bundle|pack-client|vitest\.config|test-folder)\.m?[jt]s)|test\/upgrade\/write-data\.ts)$/;

/** Files that applications outside this repository import. */
const PUBLIC = new Set(['packages/client/src/connect.ts']);

export function checkDeadFiles(
  files: readonly SourceFile[],
  workspaces: readonly Workspace[],
): Complaint[] {
  const used = new Set<string>();
  for (const source of files) {
    for (const { specifier } of source.imports) {
      for (const target of resolve(source.file, specifier, workspaces)) {
        if (!source.isTest || isTestSupport(target)) used.add(target);
      }
    }
  }
  return files
    .filter(({ file, isTest }) => !(isTest && !isTestSupport(file)) && !PROGRAM.test(file))
    .filter(({ file }) => !used.has(file) && !PUBLIC.has(file))
    .map(({ file }) => ({
      file,
      line: 0,
      message: 'nothing but tests imports this file: use it, or delete it with its test',
    }));
}

/** Whether it is code for tests only, shared by several of them. */
function isTestSupport(file: string): boolean {
  return /(^|\/)test\//.test(file) && !file.includes('.test.');
}

/** Returns the files that an import may mean: exports have no file extensions. */
function resolve(from: string, specifier: string, workspaces: readonly Workspace[]): string[] {
  if (specifier.startsWith('.')) return [path.posix.join(path.posix.dirname(from), specifier)];
  const target = workspaces.find((workspace) => workspace.name === packageOfSpecifier(specifier));
  if (target === undefined) return [];
  const name = `${target.folder}/src${specifier.slice(target.name.length)}`;
  return [`${name}.ts`, `${name}.mjs`];
}
