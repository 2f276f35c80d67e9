// Bytes, rates and durations as people write and read them. Pure.
import { usage } from './arguments.ts';

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  m: 1e6,
  g: 1e9,
  t: 1e12,
  ki: 2 ** 10,
  mi: 2 ** 20,
  gi: 2 ** 30,
  ti: 2 ** 40,
};

/** `50MB/s`, `1.5GiB`, `200k`: bytes, or bytes a second. Throws USAGE. */
export function parseBytes(text: string, name: string): number {
  const found = /^(\d+\.?\d*|\.\d+)\s*([kmgt]i?)?b?(\/s)?$/i.exec(text);
  const bytes = Number(found?.[1]) * (UNITS[(found?.[2] ?? '').toLowerCase()] ?? Number.NaN);
  if (bytes > 0) return bytes;
  throw usage(`${name} ${JSON.stringify(text)} is no size; write 50MB/s, 1GiB or 800000`);
}

/** `12.3 MB`: decimal units, three digits or so. */
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

/** `48 s`, `12.5 min`, `3.2 h`, `4.1 d`. */
export function printSeconds(seconds: number): string {
  if (seconds < 100) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  if (seconds < 7_200) return `${(seconds / 60).toFixed(1)} min`;
  if (seconds < 172_800) return `${(seconds / 3_600).toFixed(1)} h`;
  return `${(seconds / 86_400).toFixed(1)} d`;
}
