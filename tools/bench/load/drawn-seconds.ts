// The p99 of each second as a line of text, so that one sees when requests had to wait. Pure.

const bars = '▁▂▃▄▅▆▇█';

/** A bar for each second: the first up to 4 ms, each of the next up to four times as much. */
export function drawnSeconds(milliseconds: readonly number[]): string {
  const bar = (ms: number): number => Math.ceil(Math.log2(Math.max(ms, 1)) / 2) - 1;
  const drawing = milliseconds.map((ms) => bars[Math.min(Math.max(bar(ms), 0), bars.length - 1)]);
  return `${drawing.join('')} ${milliseconds.map((ms) => Math.round(ms)).join(' ')} ms`;
}
