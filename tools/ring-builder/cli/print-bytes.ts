// Parses and prints bytes, rates and durations. Pure.
import { parseSize } from '@ringwright/base/size-text';
import { usage } from './arguments.ts';

/** Parses `50MB/s`, `1.5GiB` or `200k` as bytes or bytes per second. Throws USAGE. */
export function parseBytes(text: string, name: string): number {
  const bytes = parseSize(text);
  if (bytes !== null && bytes > 0) return bytes;
  throw usage(`${name} ${JSON.stringify(text)} is not a size; write 50MB/s, 1GiB or 800000`);
}

/** Returns `12.3 MB`: decimal units, about three digits. */
export function printBytes(bytes: number): string {
  const steps = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  let step = 0;
  let value = bytes;
  while (value >= 1_000 && step < steps.length - 1) {
    value /= 1_000;
    step += 1;
  }
  return `${step === 0 ? value : value.toFixed(value < 10 ? 2 : 1)} ${steps[step]}`;
}

/** Returns `48 s`, `12.5 min`, `3.2 h` or `4.1 d`. */
export function printSeconds(seconds: number): string {
  if (seconds < 100) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  if (seconds < 7_200) return `${(seconds / 60).toFixed(1)} min`;
  if (seconds < 172_800) return `${(seconds / 3_600).toFixed(1)} h`;
  return `${(seconds / 86_400).toFixed(1)} d`;
}
