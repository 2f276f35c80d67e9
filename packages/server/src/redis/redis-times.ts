// Expiry times in the forms that Redis commands use. Pure.
import { ttlMsMax } from '@ringwright/base/limits';
import { stampMsMax } from '@ringwright/base/stamp';
import { integerOf, lowerOf, textOf } from './redis-args.ts';
import { RedisRefusal } from './redis-command.ts';

/** How a command counts time: from now or from 1970, in seconds or in milliseconds. */
export interface TimeForm {
  readonly unitMs: 1 | 1000;
  readonly isAbsolute: boolean;
}

export const seconds: TimeForm = { unitMs: 1000, isAbsolute: false };
export const milliseconds: TimeForm = { unitMs: 1, isAbsolute: false };
export const atSecond: TimeForm = { unitMs: 1000, isAbsolute: true };
export const atMillisecond: TimeForm = { unitMs: 1, isAbsolute: true };

/** The time options of SET and GETEX. */
export const timeOptions: ReadonlyMap<string, TimeForm> = new Map([
  ['ex', seconds],
  ['px', milliseconds],
  ['exat', atSecond],
  ['pxat', atMillisecond],
]);

interface TimeContext {
  readonly command: string;
  readonly nowMs: number;
}

/**
 * Returns the Unix ms of a time, within ttlMsMax; it may lie in the past. Throws Redis's refusals.
 */
export function timeOf(
  word: Uint8Array | undefined,
  { unitMs, isAbsolute }: TimeForm,
  { command, nowMs }: TimeContext,
): number {
  const atMs = integerOf(word) * unitMs + (isAbsolute ? 0 : nowMs);
  if (atMs > nowMs + ttlMsMax || atMs < -stampMsMax) throw invalidTime(command);
  return atMs;
}

/** Like timeOf, but accepts only a positive number. */
export function positiveTimeOf(
  word: Uint8Array | undefined,
  form: TimeForm,
  context: TimeContext,
): number {
  if (integerOf(word) <= 0) throw invalidTime(context.command);
  return timeOf(word, form, context);
}

/** Returns the content of a key that expires then: no value if that time has passed. */
export function expiring<Value extends Uint8Array | null>(
  value: Value,
  expiresMs: number,
  nowMs: number,
): { readonly value: Value | null; readonly expiresMs?: number } {
  return expiresMs <= nowMs && expiresMs !== 0 ? { value: null } : { value, expiresMs };
}

type ExpireCondition = (nowAtMs: number | undefined, nextAtMs: number) => boolean;

/** Reads the words after the time of an EXPIRE: NX, XX, GT, LT. Throws Redis's refusals. */
export function expireCondition(args: readonly Uint8Array[]): ExpireCondition {
  const options = new Set(args.map(lowerOf));
  const unknown = args.find((word) => !['nx', 'xx', 'gt', 'lt'].includes(lowerOf(word)));
  if (unknown !== undefined) {
    throw new RedisRefusal(`ERR Unsupported option ${textOf(unknown).slice(0, 64)}`);
  }
  if (options.has('nx') && options.size > 1) {
    throw new RedisRefusal('ERR NX and XX, GT or LT options at the same time are not compatible');
  }
  if (options.has('gt') && options.has('lt')) {
    throw new RedisRefusal('ERR GT and LT options at the same time are not compatible');
  }
  return (nowAtMs, nextAtMs) => {
    const present = nowAtMs ?? Number.POSITIVE_INFINITY;
    if (options.has('nx')) return nowAtMs === undefined;
    if (options.has('xx') && nowAtMs === undefined) return false;
    if (options.has('gt')) return nextAtMs > present;
    return !options.has('lt') || nextAtMs < present;
  };
}

function invalidTime(command: string): RedisRefusal {
  return new RedisRefusal(`ERR invalid expire time in '${command}' command`);
}
