// Commands on keys, each through this device as coordinator: GET, MSET, DEL and their relatives,
// and those that make the new value out of the old one, such as INCR and APPEND.
import { byteText } from '@ringwright/base/as-buffer';
import { CodedError } from '@ringwright/base/coded-error';
import { redisAnswerBytesMax, redisKeysAtOnce, valueBytesMax } from '@ringwright/base/limits';
import { mapConcurrent } from '@ringwright/base/map-concurrent';
import { andThen, type MaybePromise } from '@ringwright/base/maybe-promise';
import type { NewContent } from '../coordinate/propose.ts';
import { mayBeStored } from '../coordinate/quorum-write.ts';
import type { Valued } from '../replica/wire-record.ts';
import { integer64, keyOf, notAnInteger, within64, wrongArguments } from './redis-args.ts';
import { type RedisCall, type RedisCommand, RedisRefusal } from './redis-command.ts';
import { readValue, swapContent, writeContent } from './redis-values.ts';
import { arrayReply, integerReply, okReply, type RespReply, valueReply } from './resp-reply.ts';

/**
 * Returns true if the key had a value. Of several clients that delete it at once, one alone gets
 * true. At the levels one and all no round decides: a read tells. A read at level one may have
 * missed the value, so the key is deleted anyway.
 */
async function deleteKey(call: RedisCall, key: Uint8Array): Promise<boolean> {
  if (call.consistency !== 'one' && call.consistency !== 'all') {
    const emptied = (before: Valued) => (before === null ? null : { value: null });
    return (await swapContent(call, key, emptied)).isChanged;
  }
  const isPresent = (await readValue(call, key)) !== null;
  if (isPresent || call.consistency === 'one') await writeContent(call, key, { value: null });
  return isPresent;
}

function get(call: RedisCall): MaybePromise<RespReply> {
  return andThen(readValue(call, call.args[0]), valueReply);
}

async function mget(call: RedisCall): Promise<RespReply> {
  let bytes = 0;
  const items = await mapConcurrent(call.args, redisKeysAtOnce, async (key) => {
    const value = await readValue(call, key);
    bytes += value?.length ?? 0;
    if (bytes > redisAnswerBytesMax) {
      const what = `the values have more than ${redisAnswerBytesMax} bytes together`;
      throw new RedisRefusal(`ERR ${what}: get fewer keys at once`);
    }
    return valueReply(value);
  });
  return arrayReply(items);
}

/** Not atomic: each key is written by itself. If a key is named twice, its last value stays. */
async function mset(call: RedisCall): Promise<RespReply> {
  const { args } = call;
  if (args.length % 2 !== 0) throw wrongArguments('mset');
  const values = new Map<string, readonly [Uint8Array, Uint8Array]>();
  for (let at = 0; at < args.length; at += 2) {
    const [key, value] = [keyOf(args[at]), args[at + 1] ?? new Uint8Array()];
    values.set(byteText(key), [key, value]);
  }
  await forEachKey([...values.values()], ([key, value]) => writeContent(call, key, { value }));
  return okReply;
}

/**
 * Tries all items. The error sums up all failures, and whether any of them may still take effect.
 */
async function forEachKey<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => MaybePromise<Result>,
): Promise<Result[]> {
  const failures: unknown[] = [];
  const results = await mapConcurrent(items, redisKeysAtOnce, async (item): Promise<Result[]> => {
    try {
      return [await work(item)];
    } catch (error) {
      failures.push(error);
      return [];
    }
  });
  const [first] = failures;
  if (failures.length === 0) return results.flatMap((one) => one);
  if (!(first instanceof CodedError) || items.length === 1) throw first;
  const message = `${failures.length} of ${items.length} keys failed, the first: ${first.message}`;
  const isNowhere = failures.length === items.length && !failures.some(mayBeStored);
  const outcome = isNowhere ? 'rejected' : 'unknown';
  throw new CodedError(first.code, message, { details: { ...first.details, outcome } });
}

/** Deletes each key by itself. A key named twice is deleted once. */
async function del(call: RedisCall): Promise<RespReply> {
  const keys = new Map(call.args.map((key) => [byteText(key), key]));
  const deleted = await forEachKey([...keys.values()], (key) => deleteKey(call, key));
  return integerReply(deleted.filter(Boolean).length);
}

/** A key named twice counts twice, as in Redis. */
async function exists(call: RedisCall): Promise<RespReply> {
  const found = await mapConcurrent(call.args, redisKeysAtOnce, async (key) => {
    return (await readValue(call, key)) !== null;
  });
  return integerReply(found.filter(Boolean).length);
}

async function strlen(call: RedisCall): Promise<RespReply> {
  return integerReply((await readValue(call, call.args[0]))?.length ?? 0);
}

async function type(call: RedisCall): Promise<RespReply> {
  const text = (await readValue(call, call.args[0])) === null ? 'none' : 'string';
  return { kind: 'simple', text };
}

export const keyCommands: Readonly<Record<string, RedisCommand>> = {
  get: { arity: 2, keys: 'first', effect: 'read', run: get },
  mget: { arity: -2, keys: 'all', effect: 'read', run: mget },
  mset: { arity: -3, keys: 'even', effect: 'write', run: mset },
  del: { arity: -2, keys: 'all', effect: 'swap', run: del },
  unlink: { arity: -2, keys: 'all', effect: 'swap', run: del },
  exists: { arity: -2, keys: 'all', effect: 'read', run: exists },
  touch: { arity: -2, keys: 'all', effect: 'read', run: exists },
  strlen: { arity: 2, keys: 'first', effect: 'read', run: strlen },
  type: { arity: 2, keys: 'first', effect: 'read', run: type },
};

/** No other change comes in between, and the key keeps its expiry time. */
async function increase(call: RedisCall, step: bigint | null): Promise<RespReply> {
  if (step === null) throw notAnInteger();
  const { after, isChanged } = await swapContent(call, call.args[0], (present) => {
    const sum = sumOf(present, step);
    return sum === null ? null : withSameExpiry(present, Buffer.from(String(sum)));
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
    return value.length > valueBytesMax ? null : withSameExpiry(present, value);
  });
  if (isChanged) return integerReply(after?.value.length ?? 0);
  throw new RedisRefusal('ERR string exceeds maximum allowed size (proto-max-bulk-len)');
}

function withSameExpiry(present: Valued, value: Uint8Array): NewContent {
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
