// SCAN: the keys of a keyspace, partition by partition, at the connection's consistency level.
import { redisScanCountMax } from '@ringwright/base/limits';
import { type KeyspaceScan, scanKeyspace } from '../coordinate/scan-keyspace.ts';
import type { CoordinatorPorts } from '../coordinate/with-newest-ring.ts';
import { globMatcher, globPrefix } from './glob.ts';
import { integerOf, lowerOf, syntaxError } from './redis-args.ts';
import { currentKeyspace, type RedisCall, RedisRefusal } from './redis-command.ts';
import { arrayReply, bulkReply, type RespReply, textReply } from './resp-reply.ts';
import type { RespRequest } from './resp-requests.ts';
import { forward, type ScanStart } from './scan-cursors.ts';
import { type ScanAnswer, scanStretch } from './scan-stretch.ts';

interface ScanOptions {
  readonly count: number;
  /** The common prefix of all keys that match: other keys are not read. */
  readonly prefix: Uint8Array;
  readonly isWanted: (key: Uint8Array) => boolean;
}

/** Returns each key that exists during the whole scan at least once. */
export async function scan(call: RedisCall): Promise<RespReply> {
  const { ports, consistency } = call;
  const keyspace = currentKeyspace(call);
  const { ring } = ports.coordinator.rings.get(keyspace);
  const { count, prefix, isWanted } = readOptions(call.args.slice(1));
  const start = ports.cursors.read(readCursor(call.args[0]), ring);
  if (start === null) throw new RedisRefusal('ERR invalid cursor');
  const options = { ...forward, keyspace, only: null, prefix, limit: count, values: false };
  const { keys, next } = await keysFrom(start, ports.coordinator, {
    ...options,
    ...{ position: start.position, isWanted, consistency },
  });
  const cursor = String(ports.cursors.write(next, ring));
  return arrayReply([textReply(cursor), arrayReply(keys.map(bulkReply))]);
}

async function keysFrom(
  { position, slice }: ScanStart,
  coordinator: CoordinatorPorts,
  request: KeyspaceScan,
): Promise<ScanAnswer> {
  if (position !== null && slice !== null) {
    return scanStretch(coordinator, request, { position, slice });
  }
  const page = await scanKeyspace(coordinator, request);
  return { keys: page.rows.map(({ key }) => key), next: { position: page.position, slice: null } };
}

function readCursor(word: Uint8Array | undefined): number {
  const text = lowerOf(word);
  if (!/^\d{1,16}$/.test(text)) throw new RedisRefusal('ERR invalid cursor');
  return Number(text);
}

function readOptions(args: RespRequest): ScanOptions {
  let count = 10;
  let isString = true;
  // Of several patterns the last one counts, and only that one is compiled.
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
  const prefix = pattern === null ? new Uint8Array() : globPrefix(pattern);
  if (!isString) return { count, prefix, isWanted: () => false };
  return { count, prefix, isWanted: pattern === null ? () => true : globMatcher(pattern) };
}
