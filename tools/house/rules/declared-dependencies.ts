// Rule: a package imports only what its own package.json declares. Pure.
import type { Complaint } from '../complaint.ts';
import type { SourceFile } from '../source-file.ts';
import { packageOfSpecifier, type Workspace, workspaceOf } from '../workspace.ts';

/** What tests use comes from the root's devDependencies. */
const TEST_PACKAGES = new Set(['vitest', 'fast-check']);

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
