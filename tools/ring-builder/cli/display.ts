// Shows on stderr what changes while people look: drawn over itself on a terminal, a line now and
// then elsewhere, or JSON lines for machines.
import type { Line, Terminal } from './terminal.ts';

/** A terminal redrawn five times a second reads as moving, and costs nothing. */
const REDRAW_MS = 200;
const LINE_MS = 1_000;

export interface Screen {
  readonly columns: number;
  /** Lines to draw on. */
  readonly lines: number;
}

/** Each form is made only where it is shown. */
export interface Drawing {
  readonly onScreen: (screen: Screen) => readonly Line[];
  readonly inLine: () => string;
  readonly inJson: () => string;
}

interface DisplayOutput {
  readonly terminal: Pick<Terminal, 'lines' | 'erase'>;
  /** Null when it is no terminal; asked at each drawing, since windows change their size. */
  readonly screen: () => Screen | null;
  /** Lines for machines, where nobody looks. */
  readonly inJson: boolean;
  readonly nowMs: () => number;
}

export class Display {
  readonly #output: DisplayOutput;
  /** Lines that stand on the terminal now. */
  #drawn: readonly Line[] = [];
  #last = '';
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(output: DisplayOutput) {
    this.#output = output;
  }

  /** A line that stays, above the drawing; an event where machines read. */
  tell(line: string): void {
    const { inJson, screen, terminal } = this.#output;
    if (inJson && screen() === null) {
      terminal.lines([JSON.stringify({ event: 'note', text: line })]);
      return;
    }
    const drawn = this.#drawn;
    this.#erase();
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
      this.#erase();
      this.#draw(lines);
      return;
    }
    if (now - this.#lastMs < LINE_MS) return;
    const line = this.#output.inJson ? drawing.inJson() : drawing.inLine();
    if (line === this.#last) return;
    [this.#last, this.#lastMs] = [line, now];
    this.#output.terminal.lines([line]);
  }

  /** Takes the drawing away; what was told stays. */
  end(): void {
    this.#erase();
  }

  #draw(lines: readonly Line[]): void {
    this.#output.terminal.lines(lines);
    this.#drawn = lines;
  }

  #erase(): void {
    this.#output.terminal.erase(this.#drawn.length);
    this.#drawn = [];
  }
}
