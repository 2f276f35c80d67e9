// When a root runs out. Pure but for the clock it is given.
import { CodedError } from '@ringwright/base/coded-error';
import { trustLifeDaysMax } from '@ringwright/base/limits';
import { type Arguments, optionalNumber } from './arguments.ts';
import type { Context } from './verb.ts';

const defaultDays = 365;

export function expiryAfter(args: Arguments, context: Pick<Context, 'nowMs'>): string {
  const days = optionalNumber(args, 'days') ?? defaultDays;
  if (!(days > 0 && days <= trustLifeDaysMax)) {
    const message = `--days ${days} is not in (0, ${trustLifeDaysMax}]`;
    throw new CodedError('VALUE_OUT_OF_RANGE', message, { details: { days, trustLifeDaysMax } });
  }
  return new Date(context.nowMs() + days * 86_400_000).toISOString();
}
