// Commands on keys: GET, SET, DEL and their relatives, each through this device as coordinator.
import { CodedError } from '@ringwright/base/coded-error';
import { inWaves } from '@ringwright/base/in-waves';
import { redisAnswerBytesMax, redisKeysAtOnce } from '@ringwright/base/limits';
import { byteText } from './byte-text.ts';
import { coordinateRead, coordinateWrite } from './coordinate.ts';
import { type RedisCall, type RedisCommand, RedisRefusal } from './redis-command.ts';
import { currentKeyspace } from './redis-keyspace.ts';
import { checkKey, integerOf, lowerOf, syntaxError, wrongArguments } from './redis-words.ts';
import {
  arrayReply,
  bulkReply,
  integerReply,
  nullReply,
  okReply,
  type RespReply,
} from './resp-reply.ts';

const needsExpiry = (what: string): RedisRefusal =>
  new RedisRefusal(`ERR ${what} needs keys that expire, which this store does not have yet`);
const needsCondition = (what: string): RedisRefusal =>
  new RedisRefusal(`ERR ${what} needs conditional writes, which this store does not have yet`);

async function readValue(call: RedisCall, key: Uint8Array | undefined): Promise<Uint8Array | null> {
  const about = { keyspace: currentKeyspace(call), consistency: call.consistency };
  const record = await coordinateRead(call.ports.coordinator, { ...about, key: checkKey(key) });
  return record?.value ?? null;
}

async function writeValue(
  call: RedisCall,
  key: Uint8Array | undefined,
  value: Uint8Array | null,
): Promise<void> {
  const about = { keyspace: currentKeyspace(call), consistency: call.consistency };
  await coordinateWrite(call.ports.coordinator, { ...about, key: checkKey(key), value });
}

/** True when the key had a value. A level-one read may have missed it: then it is deleted anyway. */
async function deleteKey(call: RedisCall, key: Uint8Array): Promise<boolean> {
  const there = (await readValue(call, key)) !== null;
  if (there || call.consistency === 'one') await writeValue(call, key, null);
  return there;
}

async function get(call: RedisCall): Promise<RespReply> {
  const value = await readValue(call, call.words[0]);
  return value === null ? nullReply : bulkReply(value);
}

/** SET key value with options; those that need expiry or conditions are refused, not ignored. */
async function set(call: RedisCall): Promise<RespReply> {
  const [key, value = new Uint8Array(), ...options] = call.words;
  checkSetOptions(options.map(lowerOf));
  await writeValue(call, key, value);
  return okReply;
}

function checkSetOptions(options: readonly string[]): void {
  for (const [index, option] of options.entries()) {
    switch (option) {
      case 'keepttl': // no key has a time to live: kept is what it is
        break;
      case 'nx':
      case 'xx':
      case 'get':
        throw needsCondition(`SET with ${option.toUpperCase()}`);
      case 'ex':
      case 'px':
      case 'exat':
      case 'pxat':
        if (index + 1 === options.length) throw syntaxError();
        throw needsExpiry(`SET with ${option.toUpperCase()}`);
      default:
        throw syntaxError();
    }
  }
}

async function mget(call: RedisCall): Promise<RespReply> {
  let bytes = 0;
  const items = await inWaves(call.words, redisKeysAtOnce, async (key) => {
    const value = await readValue(call, key);
    bytes += value?.length ?? 0;
    if (bytes > redisAnswerBytesMax) {
      throw new RedisRefusal(`ERR the values have more than ${redisAnswerBytesMax} bytes together`);
    }
    return value === null ? nullReply : bulkReply(value);
  });
  return arrayReply(items);
}

/** Not atomic: each key is written for itself. Of a key that is named twice the last value stays. */
async function mset(call: RedisCall): Promise<RespReply> {
  const { words } = call;
  if (words.length % 2 !== 0) throw wrongArguments('mset');
  const values = new Map<string, readonly [Uint8Array, Uint8Array]>();
  for (let at = 0; at < words.length; at += 2) {
    const [key, value] = [checkKey(words[at]), words[at + 1] ?? new Uint8Array()];
    values.set(byteText(key), [key, value]);
  }
  const failures: unknown[] = [];
  await inWaves([...values.values()], redisKeysAtOnce, ([key, value]) =>
    writeValue(call, key, value).catch((error: unknown) => void failures.push(error)),
  );
  if (failures.length === 0) return okReply;
  const [first] = failures;
  if (!(first instanceof CodedError)) throw first;
  const message = `${failures.length} of ${values.size} keys failed, the first: ${first.message}`;
  throw new CodedError(first.code, message, { details: first.details });
}

async function countKeys(
  keys: readonly Uint8Array[],
  counts: (key: Uint8Array) => Promise<boolean>,
): Promise<RespReply> {
  const there = await inWaves(keys, redisKeysAtOnce, counts);
  return integerReply(there.filter(Boolean).length);
}

/** A key named twice is deleted once. */
function del(call: RedisCall): Promise<RespReply> {
  const keys = new Map(call.words.map((key) => [byteText(key), key]));
  return countKeys([...keys.values()], (key) => deleteKey(call, key));
}

/** A key named twice counts twice, as in Redis. */
function exists(call: RedisCall): Promise<RespReply> {
  return countKeys(call.words, async (key) => (await readValue(call, key)) !== null);
}

async function strlen(call: RedisCall): Promise<RespReply> {
  return integerReply((await readValue(call, call.words[0]))?.length ?? 0);
}

async function type(call: RedisCall): Promise<RespReply> {
  const text = (await readValue(call, call.words[0])) === null ? 'none' : 'string';
  return { kind: 'simple', text };
}

/** Exact: -2 without the key, -1 for a key that does not expire, and no key does. */
async function timeToLive(call: RedisCall): Promise<RespReply> {
  return integerReply((await readValue(call, call.words[0])) === null ? -2 : -1);
}

/** Exact: 0 without the key, and 0 for a key that does not expire. */
async function persist(call: RedisCall): Promise<RespReply> {
  await readValue(call, call.words[0]);
  return integerReply(0);
}

/** A time that has passed deletes the key, in Redis and here; a time to come is refused. */
async function expire(call: RedisCall): Promise<RespReply> {
  const key = checkKey(call.words[0]);
  if (call.words.length > 2) throw needsExpiry('EXPIRE with a condition');
  if (integerOf(call.words[1]) > 0) throw needsExpiry('EXPIRE');
  return integerReply((await deleteKey(call, key)) ? 1 : 0);
}

const refuse = (refusal: () => RedisRefusal) => (): never => {
  throw refusal();
};

export const keyCommands: Readonly<Record<string, RedisCommand>> = {
  get: { arity: 2, keys: 'first', effect: 'read', run: get },
  set: { arity: -3, keys: 'first', effect: 'write', run: set },
  mget: { arity: -2, keys: 'all', effect: 'read', run: mget },
  mset: { arity: -3, keys: 'even', effect: 'write', run: mset },
  del: { arity: -2, keys: 'all', effect: 'swap', run: del },
  unlink: { arity: -2, keys: 'all', effect: 'swap', run: del },
  exists: { arity: -2, keys: 'all', effect: 'read', run: exists },
  strlen: { arity: 2, keys: 'first', effect: 'read', run: strlen },
  type: { arity: 2, keys: 'first', effect: 'read', run: type },
  ttl: { arity: 2, keys: 'first', effect: 'read', run: timeToLive },
  pttl: { arity: 2, keys: 'first', effect: 'read', run: timeToLive },
  persist: { arity: 2, keys: 'first', effect: 'read', run: persist },
  expire: { arity: -3, keys: 'first', effect: 'swap', run: expire },
  pexpire: { arity: -3, keys: 'first', effect: 'swap', run: expire },
  setnx: {
    arity: 3,
    keys: 'first',
    effect: 'swap',
    run: refuse(() => needsCondition('SETNX')),
  },
  getset: {
    arity: 3,
    keys: 'first',
    effect: 'swap',
    run: refuse(() => needsCondition('GETSET')),
  },
  setex: { arity: 4, keys: 'first', effect: 'write', run: refuse(() => needsExpiry('SETEX')) },
  psetex: { arity: 4, keys: 'first', effect: 'write', run: refuse(() => needsExpiry('PSETEX')) },
};
