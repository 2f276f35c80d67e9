// Rule: a line has at most 100 columns. Pure. (Lines of files and functions: .oxlintrc.jsonc.)
import type { Complaint } from '../complaint.ts';
import type { SourceFile } from '../source-file.ts';

const COLUMNS_MAX = 100;
/** A long string or address on a line of its own cannot be broken, and is found by searching for it. */
const UNBREAKABLE = /https?:\/\/|^\s*(\[?\/.*\/[a-z]*|\S*:? ?(['"`]).*\2)[\]),;]*$/;

export function checkSizes(files: readonly SourceFile[]): Complaint[] {
  return files.flatMap(({ file, lines }) =>
    lines.flatMap((text, index) => {
      const columns = Array.from(text).length;
      if (columns <= COLUMNS_MAX || UNBREAKABLE.test(text)) return [];
      const message = `${columns} columns, at most ${COLUMNS_MAX}: break the line`;
      return [{ file, line: index + 1, message }];
    }),
  );
}
