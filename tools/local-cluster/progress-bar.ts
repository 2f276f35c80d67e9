// A progress bar on stderr that is redrawn on a terminal, and prints nothing elsewhere.

const WIDTH = 32;
const REDRAW_MS = 100;

interface ProgressBar {
  /** Shows that `done` of the total are finished. */
  show(done: number): void;
  /** Erases the bar. */
  end(): void;
}

export function progressBar(label: string, total: number): ProgressBar {
  const { stderr } = process;
  if (stderr.isTTY !== true) return { show: () => undefined, end: () => undefined };
  const started = performance.now();
  let drawn = 0;
  return {
    show: (done) => {
      const now = performance.now();
      if (now - drawn < REDRAW_MS && done < total) return;
      drawn = now;
      const part = total === 0 ? 1 : done / total;
      const full = Math.floor(part * WIDTH);
      const bar = '█'.repeat(full) + '░'.repeat(WIDTH - full);
      const seconds = (now - started) / 1000;
      const rate = seconds > 0 ? Math.round(done / seconds).toLocaleString('en') : '0';
      const percent = String(Math.floor(part * 100)).padStart(3);
      stderr.write(`\r\u001b[2K  ${label} ${bar} ${percent} %  ${rate}/s`);
    },
    end: () => stderr.write('\r\u001b[2K'),
  };
}
