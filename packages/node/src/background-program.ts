// The program of a background process: it runs when nobody else wants the processor.
import { execFile } from 'node:child_process';

/** In its environment: `yes` when it may join the idle class of Linux. */
export const idleClass = 'RINGWRIGHT_IDLE_CLASS';

/** To be called once by the program, with what it does with an order. */
export function followOrders<Order>(take: (order: Order) => void): void {
  if (process.env[idleClass] === 'yes') joinIdleClass();
  process.on('message', take);
  // Nobody is left to answer to.
  process.on('disconnect', () => process.exit());
}

/**
 * A process that is only nice still keeps a request waiting for the rest of its time slice, a
 * millisecond and more, at each of the steps that a request takes. One of the idle class is put
 * aside at once (sched(7)).
 */
function joinIdleClass(): void {
  // All of its threads; those that come later are like the one that starts them.
  const args = ['--all-tasks', '--idle', '--pid', '0', String(process.pid)];
  // Where there is no such program, or no such right, it is nice all the same.
  execFile('chrt', args, () => undefined);
}
