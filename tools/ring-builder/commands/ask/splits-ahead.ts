// ring-builder splits --ahead: cuts of ranges where keys that grow with time will come. They ask no
// server: what is cut off has no keys yet.
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { quoteCommand } from '@ringwright/base/quote-command';
import { cutsAhead } from '@ringwright/builder/ask/cuts-ahead';
import type { Change } from '@ringwright/builder/state/change';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { type Arguments, optionalText, text, usage } from '../../cli/arguments.ts';
import type { Context } from '../../cli/verb.ts';
import { timeKeys } from '../../plan/time-keys.ts';

export interface FoundSplits {
  readonly changes: readonly Change[];
  readonly json: Readonly<Record<string, unknown>>;
  readonly lines: readonly string[];
  /** What stages them, typed behind ring-builder. */
  readonly staging: string;
}

export async function splitsAhead(
  args: Arguments,
  context: Context,
  every: string,
): Promise<FoundSplits> {
  const ring = text(args, 'ring');
  const until = optionalText(args, 'until');
  if (until === undefined) throw usage('--ahead needs --until: where the cuts end');
  const form = text(args, 'keys');
  const keys = timeKeys({ every, until, form }, context.nowMs());
  const { partitioner } = (await readVersion(context.rings, ring, 'head')).ring;
  if (partitioner.kind !== 'ranges') throw inNoOrder(ring, partitioner.kind);
  const changes = cutsAhead(partitioner, keys).map((cuts) => ({ kind: 'split', ...cuts }) as const);
  const lines = changes.map(({ partition, at }) => {
    const [first, last] = [at[0], at.at(-1)];
    return `partition ${partition} is cut at ${counted(at.length, 'key')}, from ${first} to ${last}`;
  });
  const asked = ['--ahead', every, '--until', until, '--keys', form];
  return {
    changes,
    json: { ring, proposals: changes },
    lines: lines.length > 0 ? lines : [`${ring} is cut at all of these keys already`],
    staging: quoteCommand(['splits', ring, ...asked, '--stage']),
  };
}

function inNoOrder(ring: string, kind: string): CodedError {
  const message = `${ring} has ${kind}: its keys lie in no order of time`;
  return new CodedError('SPLIT_OUTSIDE', message, {
    hint: 'create --partitioner ranges makes a ring whose keys do',
    details: { ring, partitioner: kind },
  });
}
