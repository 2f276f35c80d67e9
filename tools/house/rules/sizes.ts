// Rule: a file has at most 300 lines, a line at most 100 columns. Pure.
// Lengths of functions need a parser: max-lines-per-function in .oxlintrc.json.
import type { Complaint } from '../complaint.ts';
import type { SourceFile } from '../source-file.ts';

const FILE_LINES_MAX = 300;
const COLUMNS_MAX = 100;
/** A long string or address on a line of its own cannot be broken, and is found by searching for it. */
const UNBREAKABLE = /https?:\/\/|^\s*(\[?\/.*\/[a-z]*|\S*:? ?(['"`]).*\2)[\]),;]*$/;

export function checkSizes(files: readonly SourceFile[]): Complaint[] {
  return files.flatMap((source) => [...tooLong(source), ...tooWide(source)]);
}

function tooLong({ file, lines, isTest }: SourceFile): Complaint[] {
  const count = lines.length - 1;
  if (isTest || count <= FILE_LINES_MAX) return [];
  const message = `${count} lines, at most ${FILE_LINES_MAX}: split it by its second noun`;
  return [{ file, line: 0, message }];
}

function tooWide({ file, lines }: SourceFile): Complaint[] {
  return lines.flatMap((text, index) => {
    const columns = Array.from(text).length;
    if (columns <= COLUMNS_MAX || UNBREAKABLE.test(text)) return [];
    const message = `${columns} columns, at most ${COLUMNS_MAX}: break the line`;
    return [{ file, line: index + 1, message }];
  });
}
