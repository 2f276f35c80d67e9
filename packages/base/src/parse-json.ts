// Parses JSON from outside; the caller supplies the error for invalid text.
import { jsonDepthMax } from './limits.ts';

/**
 * Bytes must be UTF-8. Text that is nested too deeply is invalid too, because what checks or prints
 * a value calls itself for each level. Throws what `refuse` makes of the cause.
 */
export function parseJson(text: string | Uint8Array, refuse: (cause: unknown) => Error): unknown {
  try {
    const whole =
      typeof text === 'string' ? text : new TextDecoder('utf-8', { fatal: true }).decode(text);
    const value: unknown = JSON.parse(whole);
    if (isDeeper(value, jsonDepthMax)) throw new SyntaxError(`nested deeper than ${jsonDepthMax}`);
    return value;
  } catch (cause) {
    throw refuse(cause);
  }
}

/** Parses JSON; also null for text that parseJson refuses. */
export function jsonOrNull(text: string): unknown {
  try {
    return parseJson(text, (cause) => new SyntaxError('no JSON', { cause }));
  } catch {
    return null;
  }
}

/** Why a text is no JSON, after "it". Git writes its conflicts into files that it merges. */
export function whyNotJson(text: string): string {
  return /^<<<<<<< /m.test(text)
    ? 'is a conflict of a git merge: git merge --abort (or git rebase --abort) undoes it'
    : 'is not JSON';
}

/** Why JSON that git wrote with the line ends of Windows is not as it was committed. */
export const windowsLineEnds =
  'has the line ends of Windows: git config core.autocrlf false, then check it out again';

/** `value`: of JSON. */
function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth === 0) return true;
  const members: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  for (const member of members) {
    // Most members of large documents are numbers.
    if (typeof member === 'object' && isDeeper(member, depth - 1)) return true;
  }
  return false;
}
