// ring-builder splits --ahead: cuts ranges at future keys, where keys grow with time. It asks no
// server, because the parts that are cut off hold no keys yet.
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { splitPartsMax } from '@ringwright/base/limits';
import { quoteCommand } from '@ringwright/base/quote-command';
import { cutsAhead } from '@ringwright/builder/analysis/propose-splits';
import type { Change } from '@ringwright/builder/state/change';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { type Arguments, usage } from '../../cli/arguments.ts';
import type { Context, Lines } from '../../cli/command.ts';
import { parseTime } from '../../cli/parse-time.ts';

export interface FoundSplits {
  readonly changes: readonly Change[];
  readonly json: Readonly<Record<string, unknown>>;
  readonly lines: Lines;
  /** The command that stages them, without `ring-builder`. */
  readonly staging: string;
  /** The next command if the proposals cannot be staged directly. */
  readonly instead?: string;
}

export async function splitsAhead(
  args: Arguments,
  context: Context,
  every: string,
): Promise<FoundSplits> {
  const ring = args.text('ring');
  const until = args.optionalText('until');
  if (until === undefined) throw usage('--ahead needs --until, the time of the last split');
  const form = args.text('keys');
  const keys = timeKeys({ every, until, form }, context.nowMs());
  const { partitioner } = (await readVersion(context.rings, ring, 'head')).ring;
  if (partitioner.kind !== 'ranges') throw inNoOrder(ring, partitioner.kind);
  const changes = cutsAhead(partitioner, keys).map((cuts) => ({ kind: 'split', ...cuts }) as const);
  const lines = changes.map(({ partition, at }) => {
    const [first, last] = [at[0], at.at(-1)];
    return `partition ${partition} is split at ${counted(at.length, 'key')}, from ${first} to ${last}`;
  });
  const commandWords = ['--ahead', every, '--until', until, '--keys', form];
  return {
    changes,
    json: { ring, proposals: changes },
    lines: lines.length > 0 ? lines : [`${ring} is already split at all of these keys`],
    staging: quoteCommand(['splits', ring, ...commandWords, '--stage']),
  };
}

function inNoOrder(ring: string, kind: string): CodedError {
  const message = `${ring} has ${kind}: its keys are not in time order`;
  return new CodedError('SPLIT_OUTSIDE', message, {
    hint: 'create --partitioner ranges makes a ring with keys in order',
    details: { ring, partitioner: kind },
  });
}

interface Periods {
  /** Length of a period, such as 4h. Periods begin at multiples of it since 1970. */
  readonly every: string;
  readonly until: string;
  /** The pattern of a key: {iso}, {unix} or {unix-ms} stands for the time. */
  readonly form: string;
}

const TIME = /\{(iso|unix|unix-ms)\}/;

/**
 * Returns the first key of each period that begins after `nowMs` and before `until`. Throws USAGE.
 */
export function timeKeys({ every, until, form }: Periods, nowMs: number): string[] {
  const everyMs = nowMs - parseTime(every, nowMs, '--ahead');
  const untilMs = parseTime(until, nowMs, '--until');
  if (!/^\d+[mhdw]$/.test(every) || everyMs <= 0) {
    throw usage(`--ahead ${every} is not a period; write 30m, 4h, 1d or 1w`);
  }
  if (untilMs <= nowMs) throw usage(`--until ${until} is not in the future`);
  if (!TIME.test(form)) throw usage(`--keys ${form} has no {iso}, {unix} or {unix-ms}`);
  const firstMs = (Math.floor(nowMs / everyMs) + 1) * everyMs;
  const count = Math.ceil((untilMs - firstMs) / everyMs);
  if (count >= splitPartsMax) {
    throw usage(
      `${count} periods until ${until}, at most ${splitPartsMax - 1} are allowed at once`,
    );
  }
  return Array.from({ length: Math.max(0, count) }, (_, index) =>
    form.replace(TIME, (_whole, kind: string) => written(firstMs + index * everyMs, kind)),
  );
}

/**
 * Returns the shortest spelling of a time, because longer spellings of the same time sort after it.
 */
function written(ms: number, kind: string): string {
  if (kind === 'unix') return String(Math.floor(ms / 1_000));
  if (kind === 'unix-ms') return String(ms);
  return new Date(ms).toISOString().replace(/(?:T00:00:00|:00:00|:00)\.000Z$/, '');
}
