// An inline request, as a person types it: words split at white space, quotes as in Redis. Pure.

const [TAB, LF, CR, BLANK] = [0x09, 0x0a, 0x0d, 0x20];
const [DOUBLE, SINGLE, BACKSLASH] = [0x22, 0x27, 0x5c];

const ESCAPES: Readonly<Record<string, number>> = { n: LF, r: CR, t: TAB, b: 0x08, a: 0x07 };

/** Returns the words of a line; null if a quote is not closed, or is closed inside a word. */
export function splitInline(line: Uint8Array): Uint8Array[] | null {
  const args: Uint8Array[] = [];
  for (let at = 0; ; ) {
    while (at < line.length && isBlank(line[at])) at += 1;
    if (at >= line.length) return args;
    const word = readWord(line, at);
    if (word === null) return null;
    args.push(word.bytes);
    at = word.end;
  }
}

interface Word {
  readonly bytes: Uint8Array;
  readonly end: number;
}

function readWord(line: Uint8Array, start: number): Word | null {
  const bytes: number[] = [];
  let at = start;
  while (at < line.length && !isBlank(line[at])) {
    const byte = line[at] ?? 0;
    if (byte !== DOUBLE && byte !== SINGLE) {
      bytes.push(byte);
      at += 1;
      continue;
    }
    const end = readQuoted(line, at, bytes);
    const closed = end !== null && (end === line.length || isBlank(line[end]));
    if (!closed) return null;
    at = end;
  }
  return { bytes: Uint8Array.from(bytes), end: at };
}

/** Appends the text between the quotes, and returns the place after the closing one. */
function readQuoted(line: Uint8Array, start: number, into: number[]): number | null {
  const quote = line[start];
  for (let at = start + 1; at < line.length; at += 1) {
    const byte = line[at] ?? 0;
    if (byte === quote) return at + 1;
    if (byte !== BACKSLASH || at + 1 === line.length) {
      into.push(byte);
      continue;
    }
    if (quote === SINGLE) {
      // Within single quotes only the quote itself can be escaped.
      if (line[at + 1] === SINGLE) at += 1;
      into.push(line[at] ?? 0);
      continue;
    }
    at += readEscape(line, at + 1, into);
  }
  return null;
}

/** Appends the byte that an escape stands for, and returns how many bytes follow the backslash. */
function readEscape(line: Uint8Array, at: number, into: number[]): number {
  const hex = String.fromCharCode(...line.subarray(at, at + 3));
  if (/^x[0-9a-fA-F]{2}$/.test(hex)) {
    into.push(Number.parseInt(hex.slice(1), 16));
    return 3;
  }
  const byte = line[at] ?? 0;
  into.push(ESCAPES[String.fromCharCode(byte)] ?? byte);
  return 1;
}

function isBlank(byte: number | undefined): boolean {
  return byte === BLANK || byte === TAB || byte === CR || byte === LF;
}
