// The one place where ring-builder writes: whatever a line was made of, only colours and movements
// that this file adds reach the terminal.
import { styleText } from 'node:util';
import { printable } from '@ringwright/base/printable';

export type Style = Parameters<typeof styleText>[0];

/** A line as it is, or with a colour for all of it or for what stands before `rest`. */
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

  /** Written at once, so that the output of another program does not come between them. */
  lines(lines: readonly Line[]): void {
    if (lines.length > 0) {
      this.#stream.write(lines.map((line) => `${this.#shown(line)}\n`).join(''));
    }
  }

  /** Takes the last lines away: up to the first of them, then clear to the end of the screen. */
  erase(lines: number): void {
    if (lines > 0) this.#stream.write(`\u001b[${lines}A\u001b[0J`);
  }

  #shown(line: Line): string {
    if (typeof line === 'string') return printable(line);
    const { style, text, rest = '' } = line;
    const shown = printable(text);
    const styled = this.#stream.colors ? styleText(style, shown, { validateStream: false }) : shown;
    return `${styled}${printable(rest)}`;
  }
}
