// Rule: a parameter is named by what it is, not by how it came. Pure.
import type { Complaint } from '../complaint.ts';
import type { SourceFile } from '../source-file.ts';

/** A name at the start of a parameter list or after a comma, followed by its type or the arrow. */
const PARAMETER =
  /[(,]\s*(?:readonly\s+)?(about|around|asked|given|told)\b(?=\??\s*:|[\w\s,]*\)\s*=>)/g;

export function checkParameterNames(files: readonly SourceFile[]): Complaint[] {
  return files.flatMap(({ file, code }) => {
    const text = code.join('\n');
    return [...text.matchAll(PARAMETER)]
      .filter(({ index }) => text[index] === '(' || bracketAround(text, index) === '(')
      .map(({ 0: found, 1: name, index }) => ({
        file,
        line: text.slice(0, index + found.length).split('\n').length,
        message: `parameter '${name}': name it by what it is`,
      }));
  });
}

/** Returns the innermost open bracket at this position. */
function bracketAround(text: string, position: number): string | undefined {
  let depth = 0;
  for (let at = position - 1; at >= 0; at -= 1) {
    const char = text.charAt(at);
    if (')]}'.includes(char)) depth += 1;
    if (!'([{'.includes(char)) continue;
    if (depth === 0) return char;
    depth -= 1;
  }
  return undefined;
}
