// When a root runs out. Pure but for the clock it is given.
import { type Arguments, optionalNumber } from '../../cli/arguments.ts';
import type { Context } from '../../cli/verb.ts';

const defaultDays = 365;

export function expiryAfter(args: Arguments, context: Pick<Context, 'nowMs'>): string {
  const days = optionalNumber(args, 'days') ?? defaultDays;
  return new Date(context.nowMs() + days * 86_400_000).toISOString();
}
