// Lines of a log that say the same again: the first is written, then how many there were.
import { repeatedLineMsMax, repeatedLineMsMin, repeatedLinesMax } from '@ringwright/base/limits';

/** Each count stands for a longer time than the one before. */
const GROWTH = 6;

interface Repeated {
  /** Of the last one that was left out. */
  write: (repeated: number) => void;
  leftOut: number;
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
   * Writes a line that is new at once, with 0. One that was written before waits, and its latest is
   * written with the number of all that waited.
   */
  offer(key: string, write: (repeated: number) => void): void {
    const known = this.#lines.get(key);
    if (known !== undefined) {
      known.write = write;
      known.leftOut += 1;
      return;
    }
    if (this.#lines.size >= repeatedLinesMax) this.#forgetOldest();
    const dueMs = this.#nowMs() + repeatedLineMsMin;
    this.#lines.set(key, { write, leftOut: 0, periodMs: repeatedLineMsMin, dueMs });
    write(0);
  }

  /** Called now and then: writes the counts that are due. What was not said again is forgotten. */
  tell(): void {
    const nowMs = this.#nowMs();
    for (const [key, line] of this.#lines) {
      if (line.dueMs > nowMs) continue;
      if (line.leftOut === 0) {
        this.#lines.delete(key);
        continue;
      }
      writeCount(line);
      line.periodMs = Math.min(line.periodMs * GROWTH, repeatedLineMsMax);
      line.dueMs = nowMs + line.periodMs;
    }
  }

  /** At the end: writes all counts, due or not. */
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
  if (line.leftOut > 0) line.write(line.leftOut);
  line.leftOut = 0;
}
