// Orders a write of one key among the other requests of its connection.
import { CodedError } from '@ringwright/base/coded-error';
import { coordinateWriteFor } from '../coordinate/coordinate.ts';
import type { KeyOrder } from '../coordinate/key-order.ts';
import type { NewContent } from '../coordinate/propose.ts';
import { keyOf } from './redis-args.ts';
import type { RedisCall } from './redis-command.ts';
import { currentKeyspace } from './redis-keyspace.ts';

/**
 * Calls `ended` with the error or null, perhaps in this turn. Creates no promise unless the write
 * has to wait for a read: nearly every write of a pipeline passes through here. Throws KEY_INVALID,
 * and a refusal if no keyspace is chosen.
 */
export function putInOrder(
  order: KeyOrder,
  { content, call }: { readonly content: NewContent; readonly call: RedisCall },
  ended: (error: unknown) => void,
): void {
  const { consistency, ports } = call;
  const { value, expiresMs } = content;
  const key = keyOf(call.args[0]);
  const about = { keyspace: currentKeyspace(call), key, consistency, value, expiresMs };
  const turn = order.beginWrite(key);
  if (turn !== null) {
    coordinateWriteFor(ports.coordinator, about, (_, error) => {
      const isOvertaken = order.endWrite(turn);
      ended(unlessOwn(error, isOvertaken));
    });
    return;
  }
  const put = (overtaken: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      coordinateWriteFor(ports.coordinator, about, (_, error) => {
        ended(unlessOwn(error, overtaken()));
        resolve();
      });
    });
  void order.run([key], 'write', put);
}

/**
 * Ignores SUPERSEDED if the connection itself wrote the key again: then this write took effect
 * before that one.
 */
function unlessOwn(error: unknown, isOvertaken: boolean): unknown {
  const isLost = error instanceof CodedError && error.code === 'SUPERSEDED';
  return isLost && isOvertaken ? null : error;
}
