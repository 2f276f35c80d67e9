// Keys that begin with a time, one for each period: where a keyspace that grows with time is cut.
import { splitPartsMax } from '@ringwright/base/limits';
import { usage } from '../cli/arguments.ts';
import { parseTime } from '../cli/parse-time.ts';

export interface Periods {
  /** Length of one, such as 4h; periods begin at multiples of it since 1970. */
  readonly every: string;
  readonly until: string;
  /** What a key looks like: {iso}, {unix} or {unix-ms} in it is the time. */
  readonly form: string;
}

const TIME = /\{(iso|unix|unix-ms)\}/;

/** Of each period that begins after `nowMs` and before `until`, its first key. Throws USAGE. */
export function timeKeys({ every, until, form }: Periods, nowMs: number): string[] {
  const everyMs = nowMs - parseTime(every, nowMs, '--ahead');
  const untilMs = parseTime(until, nowMs, '--until');
  if (!/^\d+[mhdw]$/.test(every) || everyMs <= 0) {
    throw usage(`--ahead ${every} is no period; write 30m, 4h, 1d or 1w`);
  }
  if (untilMs <= nowMs) throw usage(`--until ${until} is not in the future`);
  if (!TIME.test(form)) throw usage(`--keys ${form} has no {iso}, {unix} or {unix-ms}`);
  const firstMs = (Math.floor(nowMs / everyMs) + 1) * everyMs;
  const count = Math.ceil((untilMs - firstMs) / everyMs);
  if (count >= splitPartsMax) {
    throw usage(`${count} periods until ${until}, ${splitPartsMax - 1} are the most at once`);
  }
  return Array.from({ length: Math.max(0, count) }, (_, index) =>
    form.replace(TIME, (_whole, kind: string) => written(firstMs + index * everyMs, kind)),
  );
}

/** As short as it can be: what begins with a longer spelling of the same time comes after it. */
function written(ms: number, kind: string): string {
  if (kind === 'unix') return String(Math.floor(ms / 1_000));
  if (kind === 'unix-ms') return String(ms);
  return new Date(ms).toISOString().replace(/(?:T00:00:00|:00:00|:00)\.000Z$/, '');
}
