// Rule: no file imports itself through other files of its package, types included. A reader can
// then start with the file that imports nothing. Pure.
import path from 'node:path';
import type { Complaint } from '../complaint.ts';
import type { SourceFile } from '../source-file.ts';

export function checkImportCycles(files: readonly SourceFile[]): Complaint[] {
  const imported = new Map(files.map((source) => [source.file, importedBy(source)]));
  const complaints: Complaint[] = [];
  /** Files with all that they import: part of no cycle that was not found yet. */
  const done = new Set<string>();
  const visit = (file: string, above: readonly string[]): void => {
    const start = above.indexOf(file);
    if (start !== -1) {
      const cycle = [...above.slice(start), file].map((one) => path.posix.basename(one));
      const message = `imports itself (${cycle.join(' -> ')}): move the shared part lower`;
      complaints.push({ file, line: 0, message });
    }
    if (start !== -1 || done.has(file)) return;
    for (const next of imported.get(file) ?? []) visit(next, [...above, file]);
    done.add(file);
  };
  for (const { file } of files) visit(file, []);
  return complaints;
}

function importedBy({ file, imports }: SourceFile): string[] {
  return imports
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ specifier }) => path.posix.join(path.posix.dirname(file), specifier));
}
