// Commands about when keys expire: EXPIRE and TTL with their relatives, PERSIST, GETEX.

import { lowerOf, syntaxError } from './redis-args.ts';
import type { RedisCall, RedisCommand } from './redis-command.ts';
import {
  atMillisecond,
  atSecond,
  expireCondition,
  expiring,
  milliseconds,
  positiveTimeOf,
  seconds,
  type TimeForm,
  timeOf,
  timeOptions,
} from './redis-times.ts';
import { readRecord, readValue, swapContent } from './redis-values.ts';
import { integerReply, type RespReply, valueReply } from './resp-reply.ts';

const clockOf = ({ ports }: RedisCall): number => ports.coordinator.clock.nowMs();

/** A time in the past deletes the key. */
const expire =
  (command: string, form: TimeForm) =>
  async (call: RedisCall): Promise<RespReply> => {
    const [key, word, ...options] = call.args;
    const nowMs = clockOf(call);
    const isMet = expireCondition(options);
    const expiresMs = timeOf(word, form, { command, nowMs });
    const { isChanged } = await swapContent(call, key, (present) => {
      if (present === null || !isMet(present.expiresMs, expiresMs)) return null;
      return expiring(present.value, Math.max(expiresMs, 1), nowMs);
    });
    return integerReply(isChanged ? 1 : 0);
  };

/** Answers -2 if there is no key, -1 for a key that does not expire. */
const timeLeft =
  ({ unitMs, isAbsolute }: TimeForm) =>
  async (call: RedisCall): Promise<RespReply> => {
    const record = await readRecord(call, call.args[0]);
    if (record === null) return integerReply(-2);
    if (record.expiresMs === undefined) return integerReply(-1);
    const ms = record.expiresMs - (isAbsolute ? 0 : clockOf(call));
    return integerReply(Math.round(Math.max(ms, 0) / unitMs));
  };

async function persist(call: RedisCall): Promise<RespReply> {
  const { isChanged } = await swapContent(call, call.args[0], (present) =>
    present?.expiresMs === undefined ? null : { value: present.value },
  );
  return integerReply(isChanged ? 1 : 0);
}

async function getex(call: RedisCall): Promise<RespReply> {
  const [key, option, word, ...more] = call.args;
  const form = timeOptions.get(lowerOf(option));
  const isPersist = lowerOf(option) === 'persist';
  const isRight = isPersist ? word === undefined : form !== undefined && word !== undefined;
  if (option === undefined) return valueReply(await readValue(call, key));
  if (!isRight || more.length > 0) throw syntaxError();
  const nowMs = clockOf(call);
  const context = { command: 'getex', nowMs };
  const { before } = await swapContent(call, key, (present) => {
    // As in Redis: if there is no key, the time is not checked.
    if (present === null) return null;
    const expiresMs = form === undefined ? 0 : positiveTimeOf(word, form, context);
    if ((present.expiresMs ?? 0) === expiresMs) return null;
    return expiring(present.value, expiresMs, nowMs);
  });
  return valueReply(before?.value ?? null);
}

const swap = { keys: 'first', effect: 'swap' } as const;
const read = { keys: 'first', effect: 'read' } as const;

export const expiryCommands: Readonly<Record<string, RedisCommand>> = {
  expire: { arity: -3, ...swap, run: expire('expire', seconds) },
  pexpire: { arity: -3, ...swap, run: expire('pexpire', milliseconds) },
  expireat: { arity: -3, ...swap, run: expire('expireat', atSecond) },
  pexpireat: { arity: -3, ...swap, run: expire('pexpireat', atMillisecond) },
  ttl: { arity: 2, ...read, run: timeLeft(seconds) },
  pttl: { arity: 2, ...read, run: timeLeft(milliseconds) },
  expiretime: { arity: 2, ...read, run: timeLeft(atSecond) },
  pexpiretime: { arity: 2, ...read, run: timeLeft(atMillisecond) },
  persist: { arity: 2, ...swap, run: persist },
  getex: { arity: -2, ...swap, run: getex },
};
