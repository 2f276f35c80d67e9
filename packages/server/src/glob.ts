// Patterns of MATCH and CONFIG GET, as in Redis: `*`, `?`, `[a-z]`, `[^a]` and `\x`. Pure.

const [STAR, QUESTION, OPEN, CLOSE] = [0x2a, 0x3f, 0x5b, 0x5d];
const [CARET, DASH, BACKSLASH] = [0x5e, 0x2d, 0x5c];

/** One place of a pattern: any run of bytes, or one byte that passes. */
type Part = 'run' | ((byte: number) => boolean);

/** The matcher of a pattern. Takes O(pattern x text) at worst: no pattern can make it hang. */
export function globMatcher(pattern: Uint8Array): (text: Uint8Array) => boolean {
  const parts = readParts(pattern);
  return (text) => matches(parts, text);
}

function matches(parts: readonly Part[], text: Uint8Array): boolean {
  let part = 0;
  let at = 0;
  /** The last run, and where what follows it was tried: on a mismatch the run takes one more. */
  let run = -1;
  let tried = 0;
  while (at < text.length) {
    const wanted = parts[part];
    if (wanted === 'run') {
      run = part++;
      tried = at;
    } else if (wanted?.(text[at] ?? 0) === true) {
      part += 1;
      at += 1;
    } else if (run !== -1) {
      part = run + 1;
      at = ++tried;
    } else return false;
  }
  while (parts[part] === 'run') part += 1;
  return part === parts.length;
}

function readParts(pattern: Uint8Array): Part[] {
  const parts: Part[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const byte = pattern[at] ?? 0;
    if (byte === STAR) {
      if (parts.at(-1) !== 'run') parts.push('run');
    } else if (byte === QUESTION) parts.push(() => true);
    else if (byte === OPEN) {
      const { part, end } = readClass(pattern, at + 1);
      parts.push(part);
      at = end;
    } else {
      const escaped = byte === BACKSLASH && at + 1 < pattern.length;
      if (escaped) at += 1;
      const wanted = pattern[at];
      parts.push((given) => given === wanted);
    }
  }
  return parts;
}

/** A class up to its bracket; one that is not closed ends with the pattern. */
function readClass(
  pattern: Uint8Array,
  start: number,
): { readonly part: Part; readonly end: number } {
  const inverted = pattern[start] === CARET;
  const allowed = new Set<number>();
  let at = inverted ? start + 1 : start;
  for (; at < pattern.length && pattern[at] !== CLOSE; at += 1) {
    if (pattern[at] === BACKSLASH && at + 1 < pattern.length) at += 1;
    const first = pattern[at] ?? 0;
    const last = pattern[at + 2];
    if (pattern[at + 1] === DASH && last !== undefined && last !== CLOSE) {
      for (let byte = Math.min(first, last); byte <= Math.max(first, last); byte += 1) {
        allowed.add(byte);
      }
      at += 2;
    } else allowed.add(first);
  }
  return { part: (byte) => allowed.has(byte) !== inverted, end: at };
}
