// Rule: a package exports exactly what others import. Everything outside this closed list can
// change without effect on other packages. Pure.
import type { Complaint } from '../complaint.ts';
import type { SourceFile } from '../source-file.ts';
import { packageOfSpecifier, type Workspace, workspaceOf } from '../workspace.ts';

export function checkClosedExports(
  files: readonly SourceFile[],
  workspaces: readonly Workspace[],
): Complaint[] {
  const imported = importedParts(files, workspaces);
  return workspaces.flatMap(({ folder, name, exports }) => {
    const file = `${folder}/package.json`;
    const used = imported.get(name) ?? new Set<string>();
    const missing = [...used].filter((part) => !exports.has(part));
    const unused = [...exports].filter((part) => !used.has(part));
    return [
      ...missing.map((part) => `'${part}' is imported by others: add it to "exports"`),
      ...unused.map((part) => `'${part}' is imported by nobody else: take it out of "exports"`),
    ].map((message) => ({ file, line: 0, message }));
  });
}

/** By package: the paths after its name in imports of other packages and of shared tests. */
function importedParts(
  files: readonly SourceFile[],
  workspaces: readonly Workspace[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  const names = new Set(workspaces.map(({ name }) => name));
  for (const source of files) {
    const ownName = workspaceOf(source.file, workspaces)?.name;
    for (const { specifier } of source.imports) {
      const name = packageOfSpecifier(specifier);
      if (name === null || name === ownName || !names.has(name)) continue;
      const parts = found.get(name) ?? new Set();
      found.set(name, parts.add(`.${specifier.slice(name.length)}`));
    }
  }
  return found;
}
