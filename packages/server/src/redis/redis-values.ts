// What commands on keys share: reads and writes at the connection's consistency level, and changes
// that depend on what the key holds.
import { andThen, type MaybePromise } from '@ringwright/base/maybe-promise';
import { changeKey } from '../coordinate/change-key.ts';
import { coordinateRead, coordinateWrite, type Written } from '../coordinate/coordinate.ts';
import type { NewContent } from '../coordinate/propose.ts';
import { liveOrNull, type Valued } from '../replica/wire-record.ts';
import { keyOf } from './redis-args.ts';
import { currentKeyspace, type RedisCall, RedisRefusal } from './redis-command.ts';

export function readRecord(call: RedisCall, key: Uint8Array | undefined): MaybePromise<Valued> {
  const { consistency, ports } = call;
  const request = { keyspace: currentKeyspace(call), consistency, key: keyOf(key) };
  return andThen(coordinateRead(ports.coordinator, request), liveOrNull);
}

export function readValue(
  call: RedisCall,
  key: Uint8Array | undefined,
): MaybePromise<Uint8Array | null> {
  return andThen(readRecord(call, key), (record) => record?.value ?? null);
}

export function writeContent(
  call: RedisCall,
  key: Uint8Array | undefined,
  content: NewContent,
): Promise<Written> {
  const { consistency, ports } = call;
  const target = { keyspace: currentKeyspace(call), consistency, key: keyOf(key) };
  return coordinateWrite(ports.coordinator, { ...target, ...content });
}

interface Swapped {
  /** What the key held when the change was decided. */
  readonly before: Valued;
  /**
   * What the key holds now. After a change this is the decided record, whichever round wrote it.
   */
  readonly after: Valued;
  readonly isChanged: boolean;
}

/**
 * Changes a key depending on what it holds, atomically over all servers. If `change` returns null,
 * the key stays as it is.
 */
export async function swapContent(
  call: RedisCall,
  key: Uint8Array | undefined,
  change: (before: Valued) => NewContent | null,
): Promise<Swapped> {
  if (call.consistency === 'all') {
    const hint = 'choose it with RINGWRIGHT.CONSISTENCY quorum';
    throw new RedisRefusal(`ERR changes that depend on the value are decided by a quorum: ${hint}`);
  }
  const target = { keyspace: currentKeyspace(call), key: keyOf(key) };
  let before: Valued = null;
  const { record, isChanged } = await changeKey(call.ports.coordinator, target, (present) => {
    before = liveOrNull(present);
    return change(before);
  });
  return { before, after: liveOrNull(record), isChanged };
}
