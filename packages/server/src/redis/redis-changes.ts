// Commands that compute the new value from the old one: INCR and its relatives, APPEND.
import { valueBytesMax } from '@ringwright/base/limits';
import type { NewContent } from '../coordinate/propose.ts';
import type { Valued } from '../replica/wire-record.ts';
import { notAnInteger, textOf } from './redis-args.ts';
import { type RedisCall, type RedisCommand, RedisRefusal } from './redis-command.ts';
import { swapContent } from './redis-values.ts';
import { integerReply, type RespReply } from './resp-reply.ts';

/** Redis integers have 64 bits with sign, and each has one spelling. */
const INTEGER = /^(0|-?[1-9]\d{0,18})$/;

function integer64(word: Uint8Array | undefined): bigint | null {
  const text = textOf(word);
  return INTEGER.test(text) ? within64(BigInt(text)) : null;
}

function within64(value: bigint): bigint | null {
  return BigInt.asIntN(64, value) === value ? value : null;
}

/** No other change comes in between, and the key keeps its expiry time. */
async function increase(call: RedisCall, step: bigint | null): Promise<RespReply> {
  if (step === null) throw notAnInteger();
  const { after, isChanged } = await swapContent(call, call.args[0], (present) => {
    const sum = sumOf(present, step);
    return sum === null ? null : kept(present, Buffer.from(String(sum)));
  });
  const total = integer64(after?.value);
  if (isChanged && total !== null) return integerReply(total);
  throw total === null ? notAnInteger() : overflow('increment or decrement');
}

/**
 * Returns null if the sum does not fit in 64 bits, or the value is no integer. A key without a
 * value counts as 0.
 */
function sumOf(present: Valued, step: bigint): bigint | null {
  const value = present === null ? 0n : integer64(present.value);
  return value === null ? null : within64(value + step);
}

function decreaseBy(call: RedisCall): Promise<RespReply> {
  const step = integer64(call.args[1]);
  if (step !== null && within64(-step) === null) throw overflow('decrement');
  return increase(call, step === null ? null : -step);
}

async function append(call: RedisCall): Promise<RespReply> {
  const [key, word = new Uint8Array()] = call.args;
  const { after, isChanged } = await swapContent(call, key, (present) => {
    const value = Buffer.concat([present?.value ?? new Uint8Array(), word]);
    return value.length > valueBytesMax ? null : kept(present, value);
  });
  if (isChanged) return integerReply(after?.value.length ?? 0);
  throw new RedisRefusal('ERR string exceeds maximum allowed size (proto-max-bulk-len)');
}

function kept(present: Valued, value: Uint8Array): NewContent {
  return { value, expiresMs: present?.expiresMs };
}

function overflow(what: string): RedisRefusal {
  return new RedisRefusal(`ERR ${what} would overflow`);
}

const swap = { keys: 'first', effect: 'swap' } as const;

export const changeCommands: Readonly<Record<string, RedisCommand>> = {
  incr: { arity: 2, ...swap, run: (call) => increase(call, 1n) },
  decr: { arity: 2, ...swap, run: (call) => increase(call, -1n) },
  incrby: { arity: 3, ...swap, run: (call) => increase(call, integer64(call.args[1])) },
  decrby: { arity: 3, ...swap, run: decreaseBy },
  append: { arity: 3, ...swap, run: append },
};
