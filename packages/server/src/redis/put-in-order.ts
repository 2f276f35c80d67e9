// A write of one key among the other requests of its connection.
import { CodedError } from '@ringwright/base/coded-error';
import { coordinateWriteFor } from '../coordinate/coordinate.ts';
import type { KeyOrder } from '../coordinate/key-order.ts';
import type { NewContent } from '../coordinate/propose.ts';
import { keyOf } from './redis-args.ts';
import type { RedisCall } from './redis-command.ts';
import { currentKeyspace } from './redis-keyspace.ts';

/**
 * `ended` is told the error, or null; it may be in this turn. No promise, unless the write has to
 * wait for a read: this is the path of nearly every write of a pipeline. Throws KEY_INVALID and
 * that no keyspace is chosen.
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

/** Where the connection itself wrote the key again, this write had its moment before that one. */
function unlessOwn(error: unknown, isOvertaken: boolean): unknown {
  const isLost = error instanceof CodedError && error.code === 'SUPERSEDED';
  return isLost && isOvertaken ? null : error;
}
