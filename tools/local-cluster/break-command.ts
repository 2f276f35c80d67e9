// A command over several lines of a terminal, so that what is copied from there can be run. Pure.

/** What stands before the lines after the first. */
const indent = '  ';

/**
 * Lines of at most `columns`, broken between words, each but the last with the backslash that a
 * shell joins them by. Words are quoted already; one that is longer than a line has it for itself.
 */
export function breakCommand(args: readonly string[], columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of args) {
    const longer = line === '' ? word : `${line} ${word}`;
    // The backslash needs two columns more.
    if (line.trim() === '' || longer.length <= columns - 2) {
      line = longer;
    } else {
      lines.push(`${line} \\`);
      line = `${indent}${word}`;
    }
  }
  return [...lines, line];
}
