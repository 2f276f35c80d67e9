// Shows a board on stderr: drawn over itself on a terminal, a line now and then elsewhere, or JSON
// lines for machines.
import type { Line, Terminal } from '../terminal.ts';
import { type Board, printBoard, printBoardLine, type Screen } from './print-board.ts';

/** A terminal redrawn five times a second reads as moving, and costs nothing. */
const REDRAW_MS = 200;
const LINE_MS = 1_000;
/** Moves in one JSON line, those that need eyes first: a second of 65,536 would be 15 MB. */
const JSON_MOVES_MAX = 1_000;

export interface DisplayOutput {
  readonly terminal: Pick<Terminal, 'lines' | 'erase'>;
  /** Null when it is no terminal; asked at each drawing, since windows change their size. */
  readonly screen: () => Screen | null;
  /** Lines for machines, where nobody looks. */
  readonly inJson: boolean;
  readonly nowMs: () => number;
}

export class Display {
  readonly #output: DisplayOutput;
  /** Lines of the board that stand on the terminal now. */
  #drawn: readonly Line[] = [];
  #last = '';
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(output: DisplayOutput) {
    this.#output = output;
  }

  /** A line that stays, above the board. */
  tell(line: string): void {
    const board = this.#drawn;
    this.#erase();
    this.#output.terminal.lines([line]);
    if (board.length > 0) this.#draw(board);
  }

  show(board: Board): void {
    const now = this.#output.nowMs();
    const screen = this.#output.screen();
    if (screen !== null) {
      if (now - this.#lastMs < REDRAW_MS) return;
      this.#lastMs = now;
      const lines = printBoard(board, screen);
      this.#erase();
      this.#draw(lines);
      return;
    }
    if (now - this.#lastMs < LINE_MS) return;
    const line = this.#output.inJson ? jsonLine(board) : printBoardLine(board);
    if (line === this.#last) return;
    [this.#last, this.#lastMs] = [line, now];
    this.#output.terminal.lines([line]);
  }

  /** Takes the board away; what was told stays. */
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

function jsonLine({ pace, rows, ...board }: Board): string {
  const { bytesPerSecond, secondsLeft, stalled } = pace;
  const moves = rows.slice(0, JSON_MOVES_MAX).map((row) => {
    const isStalled = row.assignment !== null && stalled.has(row.assignment);
    return { ...row, stalled: isStalled };
  });
  const inFlight = rows.length;
  const figures = { inFlight, bytesPerSecond, secondsLeft };
  return JSON.stringify({ event: 'progress', ...board, ...figures, moves });
}
