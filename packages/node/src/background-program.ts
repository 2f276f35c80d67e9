// What a program that background-process.ts runs has to do with whoever runs it.
import type { Serializable } from 'node:child_process';

/** Does nothing when nobody is left to answer to: then this process ends. */
export function answerParent(answer: Serializable): void {
  process.send?.(answer, undefined, undefined, () => undefined);
}

/** Calls `next` when every order that has come by now is taken: a turn later than `takeOrders`. */
export function afterOrders(next: () => void): void {
  setImmediate(() => setImmediate(() => setImmediate(next)));
}

/**
 * `take` does not reject. What a parent that is gone has ordered is not taken: its folder may have
 * been removed, or be another one's. Mostly it was killed while this program began: then the end of
 * the channel is read one turn of the event loop after its last message.
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
