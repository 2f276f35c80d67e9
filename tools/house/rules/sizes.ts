// Rule: a line has at most 100 columns. Pure. (Lines of files and functions: .oxlintrc.jsonc.)
import type { Complaint } from '../complaint.ts';
import type { SourceFile } from '../source-file.ts';

const COLUMNS_MAX = 100;
/** A doc comment that fits one line with a few more columns would otherwise take three lines. */
const COMMENT_COLUMNS_MAX = 112;
const COMMENT_OF_ONE_LINE = /^\s*\/\*\* .* \*\/$/;
/** A long string or URL on its own line cannot be broken, and is found by searching for it. */
const UNBREAKABLE = /https?:\/\/|^\s*(\[?\/.*\/[a-z]*|\S*:? ?(['"`]).*\2)[\]),;]*$/;

export function checkSizes(files: readonly SourceFile[]): Complaint[] {
  return files.flatMap(({ file, lines }) =>
    lines.flatMap((text, index) => {
      const columns = Array.from(text).length;
      const isComment = COMMENT_OF_ONE_LINE.test(text);
      const columnsMax = isComment ? COMMENT_COLUMNS_MAX : COLUMNS_MAX;
      if (columns <= columnsMax || (!isComment && UNBREAKABLE.test(text))) return [];
      const message = `${columns} columns, at most ${columnsMax}: break the line`;
      return [{ file, line: index + 1, message }];
    }),
  );
}
