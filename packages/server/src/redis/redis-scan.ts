// SCAN: the keys of a keyspace, partition by partition, at the connection's consistency.
import { redisScanCountMax } from '@ringwright/base/limits';
import { listKeyspace } from '../coordinate/list-keyspace.ts';
import { globMatcher } from './glob.ts';
import { integerOf, lowerOf, syntaxError } from './redis-args.ts';
import { type RedisCall, RedisRefusal } from './redis-command.ts';
import { currentKeyspace } from './redis-keyspace.ts';
import { arrayReply, bulkReply, type RespReply, textReply } from './resp-reply.ts';
import type { RespRequest } from './resp-requests.ts';

interface ScanOptions {
  readonly count: number;
  readonly isWanted: (key: Uint8Array) => boolean;
}

/** Every key that was there from the first call to the last is given at least once. */
export async function scan(call: RedisCall): Promise<RespReply> {
  const { ports, consistency } = call;
  const keyspace = currentKeyspace(call);
  const { partitions } = ports.coordinator.rings.get(keyspace).ring;
  const options = readOptions(call.args.slice(1));
  const from = ports.cursors.read(readCursor(call.args[0]), keyspace, partitions);
  if (from === null) throw new RedisRefusal('ERR invalid cursor');
  const { count: limit, isWanted } = options;
  const listing = { keyspace, place: from, end: partitions, limit, isWanted, consistency };
  const { keys, place } = await listKeyspace(ports.coordinator, listing);
  const cursor = ports.cursors.write(place, keyspace, partitions);
  return arrayReply([textReply(String(cursor)), arrayReply(keys.map(bulkReply))]);
}

function readCursor(word: Uint8Array | undefined): number {
  const text = lowerOf(word);
  if (!/^\d{1,16}$/.test(text)) throw new RedisRefusal('ERR invalid cursor');
  return Number(text);
}

function readOptions(args: RespRequest): ScanOptions {
  let count = 10;
  let isString = true;
  // Of several the last one counts, and only that is compiled.
  let pattern: Uint8Array | null = null;
  if (args.length % 2 !== 0) throw syntaxError();
  for (let at = 0; at < args.length; at += 2) {
    const value = args[at + 1] ?? new Uint8Array();
    switch (lowerOf(args[at])) {
      case 'count':
        count = Math.min(integerOf(value), redisScanCountMax);
        if (count < 1) throw syntaxError();
        break;
      case 'match':
        pattern = value;
        break;
      case 'type':
        isString = lowerOf(value) === 'string';
        break;
      default:
        throw syntaxError();
    }
  }
  if (!isString) return { count, isWanted: () => false };
  return { count, isWanted: pattern === null ? () => true : globMatcher(pattern) };
}
