// The program's side of background-process.ts: receives orders and answers its parent.
import type { Serializable } from 'node:child_process';

/** Does nothing when the parent is gone: then this process ends. */
export function answerParent(answer: Serializable): void {
  process.send?.(answer, undefined, undefined, () => undefined);
}

/**
 * Calls `next` after every order received so far was taken: a turn later than `takeOrders` does.
 */
export function afterOrders(next: () => void): void {
  setImmediate(() => setImmediate(() => setImmediate(next)));
}

/**
 * `take` must not reject. Orders of a parent that is gone are ignored: its folder may have been
 * removed, or belong to another process. Usually the parent was killed while this program started:
 * the end of the channel is then read one turn of the event loop after its last message.
 */
export function takeOrders<Order>(take: (order: Order) => Promise<void>): void {
  const takeUnlessEnded = (order: Order): void => {
    if (process.connected) void take(order);
  };
  process.on('message', (order: Order) => {
    setImmediate(() => setImmediate(takeUnlessEnded, order));
  });
  process.on('disconnect', () => process.exit());
}
