// The only output channel of ring-builder. Control characters in a line are made harmless: only the
// colors and cursor movements that this file adds reach the terminal.
import { styleText } from 'node:util';
import { printable } from '@ringwright/base/printable';

export type Style = Parameters<typeof styleText>[0];

/** Plain text, or text with a color for all of it or for the part before `rest`. */
export type Line = string | StyledLine;

interface StyledLine {
  readonly style: Style;
  readonly text: string;
  readonly rest?: string;
}

interface TerminalStream {
  readonly write: (text: string) => unknown;
  readonly colors: boolean;
}

export class Terminal {
  readonly #stream: TerminalStream;

  constructor(stream: TerminalStream) {
    this.#stream = stream;
  }

  /** Writes all lines at once, so that output of another program cannot come between them. */
  lines(lines: readonly Line[]): void {
    if (lines.length > 0) {
      this.#stream.write(lines.map((line) => `${this.#shown(line)}\n`).join(''));
    }
  }

  /** Erases the last lines: moves up to the first of them and clears to the end of the screen. */
  erase(lines: number): void {
    if (lines > 0) this.#stream.write(`\u001b[${lines}A\u001b[0J`);
  }

  #shown(line: Line): string {
    if (typeof line === 'string') return printable(line);
    const { style, text, rest = '' } = line;
    const plain = printable(text);
    const styled = this.#stream.colors ? styleText(style, plain, { validateStream: false }) : plain;
    return `${styled}${printable(rest)}`;
  }
}
