// Shows progress on stderr: a drawing that replaces itself on a terminal, otherwise a line now and
// then, or JSON lines for programs.
import type { Line, Terminal } from './terminal.ts';

/** Five redraws a second look fluent and cost little. */
const REDRAW_MS = 200;
const LINE_MS = 1_000;

export interface Screen {
  readonly columns: number;
  /** The number of lines to draw on. */
  readonly lines: number;
}

/** One state of progress in three forms. Only the form that is shown is computed. */
export interface Drawing {
  readonly onScreen: (screen: Screen) => readonly Line[];
  readonly inLine: () => string;
  readonly inJson: () => string;
}

interface DisplayOutput {
  readonly terminal: Pick<Terminal, 'lines' | 'erase'>;
  /** Null without a terminal. Read for each drawing, because windows change their size. */
  readonly screen: () => Screen | null;
  /** Without a terminal, print JSON lines. */
  readonly inJson: boolean;
  readonly nowMs: () => number;
}

export class Display {
  readonly #output: DisplayOutput;
  /** The lines of the current drawing on the terminal. */
  #drawn: readonly Line[] = [];
  #last = '';
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(output: DisplayOutput) {
    this.#output = output;
  }

  /** Prints a permanent line above the drawing. With --json and no terminal, prints an event. */
  tell(line: string): void {
    const { inJson, screen, terminal } = this.#output;
    if (inJson && screen() === null) {
      terminal.lines([JSON.stringify({ event: 'note', text: line })]);
      return;
    }
    const drawn = this.#drawn;
    this.erase();
    terminal.lines([line]);
    if (drawn.length > 0) this.#draw(drawn);
  }

  show(drawing: Drawing): void {
    const now = this.#output.nowMs();
    const screen = this.#output.screen();
    if (screen !== null) {
      if (now - this.#lastMs < REDRAW_MS) return;
      this.#lastMs = now;
      const lines = drawing.onScreen(screen);
      this.erase();
      this.#draw(lines);
      return;
    }
    if (now - this.#lastMs < LINE_MS) return;
    const line = this.#output.inJson ? drawing.inJson() : drawing.inLine();
    if (line === this.#last) return;
    [this.#last, this.#lastMs] = [line, now];
    this.#output.terminal.lines([line]);
  }

  #draw(lines: readonly Line[]): void {
    this.#output.terminal.lines(lines);
    this.#drawn = lines;
  }

  /** Erases the drawing. Lines printed by tell stay. */
  erase(): void {
    this.#output.terminal.erase(this.#drawn.length);
    this.#drawn = [];
  }
}
