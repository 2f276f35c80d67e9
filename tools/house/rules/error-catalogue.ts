// Rule: every error code is in a named group, and some program uses it. Pure.
import type { Complaint } from '../complaint.ts';
import type { SourceFile } from '../source-file.ts';

const CATALOGUE = 'packages/base/src/errors.ts';
const ENTRY = /^ {2}([A-Z][A-Z0-9_]*): \w+\(/;
const GROUP = /^ {2}\/\/ /;

export function checkErrorCatalogue(files: readonly SourceFile[]): Complaint[] {
  const catalogue = files.find(({ file }) => file === CATALOGUE);
  if (catalogue === undefined) return [{ file: CATALOGUE, line: 0, message: 'is missing' }];
  const used = usedCodes(files);
  let grouped = false;
  return catalogue.lines.flatMap((text, index) => {
    if (GROUP.test(text)) grouped = true;
    const code = ENTRY.exec(text)?.[1];
    if (code === undefined) return [];
    const fault = (message: string): Complaint => ({ file: CATALOGUE, line: index + 1, message });
    return [
      ...(grouped ? [] : [fault(`${code} stands before the first group: put it into one`)]),
      ...(used.has(code) ? [] : [fault(`nothing uses ${code}: use it, or delete it`)]),
    ];
  });
}

function usedCodes(files: readonly SourceFile[]): ReadonlySet<string> {
  const quoted = files
    .filter(({ file, isTest }) => !isTest && file !== CATALOGUE)
    .flatMap(({ text }) => [...text.matchAll(/['"]([A-Z][A-Z0-9_]+)['"]/g)]);
  return new Set(quoted.flatMap((match) => match[1] ?? []));
}
