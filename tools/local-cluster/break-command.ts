// Breaks a command over several lines of a terminal, so that a copy of it can be run. Pure.

/** Indentation of every line after the first. */
const indent = '  ';

/**
 * Returns lines of at most `columns`, broken between words. Each but the last ends in a backslash,
 * by which a shell joins them. Words are quoted already. A word longer than a line gets its own
 * line.
 */
export function breakCommand(args: readonly string[], columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of args) {
    const longer = line === '' ? word : `${line} ${word}`;
    // The space and the backslash need two columns.
    if (line.trim() === '' || longer.length <= columns - 2) {
      line = longer;
    } else {
      lines.push(`${line} \\`);
      line = `${indent}${word}`;
    }
  }
  return [...lines, line];
}
