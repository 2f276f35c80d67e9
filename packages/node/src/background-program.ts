// What a program that background-process.ts runs has to do with whoever runs it.
import type { Serializable } from 'node:child_process';

/** Does nothing when nobody is left to answer to: then this process ends. */
export function answerParent(answer: Serializable): void {
  process.send?.(answer, undefined, undefined, () => undefined);
}

/** `take` does not reject. */
export function takeOrders<Order>(take: (order: Order) => Promise<void>): void {
  process.on('message', (order: Order) => void take(order));
  process.on('disconnect', () => process.exit());
}
