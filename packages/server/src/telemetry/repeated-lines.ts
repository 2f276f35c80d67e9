// Repeated log lines: the first is written at once, later ones as a count.
import { repeatedLineMsMax, repeatedLineMsMin, repeatedLinesMax } from '@ringwright/base/limits';

/** Each count covers a longer time than the one before, by this factor. */
const GROWTH = 6;

interface Repeated {
  /** Writes the latest line that was held back. */
  write: (repeated: number) => void;
  repeatCount: number;
  periodMs: number;
  dueMs: number;
}

export class RepeatedLines {
  readonly #nowMs: () => number;
  readonly #lines = new Map<string, Repeated>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /**
   * Writes a new line at once, with 0. A line that was written before is held back: later the
   * latest of them is written, with the number of all.
   */
  offer(key: string, write: (repeated: number) => void): void {
    const known = this.#lines.get(key);
    if (known !== undefined) {
      known.write = write;
      known.repeatCount += 1;
      return;
    }
    if (this.#lines.size >= repeatedLinesMax) this.#forgetOldest();
    const dueMs = this.#nowMs() + repeatedLineMsMin;
    this.#lines.set(key, { write, repeatCount: 0, periodMs: repeatedLineMsMin, dueMs });
    write(0);
  }

  /**
   * To be called periodically: writes the counts that are due. Lines that were not repeated are
   * forgotten.
   */
  tell(): void {
    const nowMs = this.#nowMs();
    for (const [key, line] of this.#lines) {
      if (line.dueMs > nowMs) continue;
      if (line.repeatCount === 0) {
        this.#lines.delete(key);
        continue;
      }
      writeCount(line);
      line.periodMs = Math.min(line.periodMs * GROWTH, repeatedLineMsMax);
      line.dueMs = nowMs + line.periodMs;
    }
  }

  /** To be called at the end: writes all counts, due or not. */
  tellAll(): void {
    for (const line of this.#lines.values()) writeCount(line);
    this.#lines.clear();
  }

  #forgetOldest(): void {
    for (const [key, line] of this.#lines) {
      writeCount(line);
      this.#lines.delete(key);
      return;
    }
  }
}

function writeCount(line: Repeated): void {
  if (line.repeatCount > 0) line.write(line.repeatCount);
  line.repeatCount = 0;
}
