// Blanks comments and the contents of strings, so that rules read only code. Pure.
// Keeps lines and columns. This is a scanner, not a parser: the code before a slash distinguishes a
// regular expression from a division.

const BEFORE_REGEX = /(^|[([{,;=:?!&|+\-*%<>~^])$|\b(return|typeof|case|in|of|do|else|void|await)$/;

interface Scan {
  readonly text: string;
  readonly out: string[];
  at: number;
}

/** Returns the text with comments and string contents replaced by spaces; newlines stay. */
export function maskCode(text: string): string {
  const scan: Scan = { text, out: [], at: 0 };
  if (text.startsWith('#!')) blankUntil(scan, (rest) => rest.startsWith('\n'));
  scanCode(scan, false);
  return scan.out.join('');
}

function scanCode(scan: Scan, insideTemplate: boolean): void {
  let depth = 0;
  while (scan.at < scan.text.length) {
    const two = scan.text.slice(scan.at, scan.at + 2);
    const char = two[0];
    if (insideTemplate && char === '}' && depth === 0) return;
    if (char === '{') depth += 1;
    if (char === '}') depth -= 1;
    if (two === '//') blankUntil(scan, (rest) => rest.startsWith('\n'));
    else if (two === '/*') blankComment(scan);
    else if (char === "'" || char === '"') blankQuoted(scan, char);
    else if (char === '`') blankTemplate(scan);
    else if (char === '/' && startsRegex(scan)) blankRegex(scan);
    else keep(scan);
  }
}

function keep(scan: Scan): void {
  scan.out.push(scan.text[scan.at] ?? '');
  scan.at += 1;
}

function blank(scan: Scan): void {
  scan.out.push(scan.text[scan.at] === '\n' ? '\n' : ' ');
  scan.at += 1;
}

function blankUntil(scan: Scan, end: (rest: string) => boolean): void {
  while (scan.at < scan.text.length && !end(scan.text.slice(scan.at, scan.at + 2))) blank(scan);
}

function blankComment(scan: Scan): void {
  blankUntil(scan, (rest) => rest === '*/');
  blank(scan);
  blank(scan);
}

function blankQuoted(scan: Scan, quote: string): void {
  keep(scan);
  while (scan.at < scan.text.length && scan.text[scan.at] !== quote) {
    if (scan.text[scan.at] === '\\') blank(scan);
    blank(scan);
  }
  keep(scan);
}

function blankTemplate(scan: Scan): void {
  keep(scan);
  while (scan.at < scan.text.length && scan.text[scan.at] !== '`') {
    if (scan.text.startsWith('${', scan.at)) {
      keep(scan);
      keep(scan);
      scanCode(scan, true);
      keep(scan);
    } else {
      if (scan.text[scan.at] === '\\') blank(scan);
      blank(scan);
    }
  }
  keep(scan);
}

function startsRegex(scan: Scan): boolean {
  return BEFORE_REGEX.test(scan.out.slice(-200).join('').trimEnd());
}

function blankRegex(scan: Scan): void {
  keep(scan);
  let inClass = false;
  while (scan.at < scan.text.length && (inClass || scan.text[scan.at] !== '/')) {
    const char = scan.text[scan.at];
    if (char === '[') inClass = true;
    if (char === ']') inClass = false;
    if (char === '\\') blank(scan);
    blank(scan);
  }
  keep(scan);
}
