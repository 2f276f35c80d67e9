// The requests of a connection, one after the other, and a limit for those that wait.
import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { httpWaitingBytesMax, httpWaitingRequestBytes } from '@ringwright/base/limits-listeners';
import { ByteBudget, type HeldBytes } from '../access/byte-budget.ts';
import type { Exchange } from './http-answer.ts';

interface Queue {
  /** Resolves when the newest request is answered. */
  last: Promise<void> | null;
  /** Requests that are not answered yet. */
  unanswered: number;
  readonly held: HeldBytes;
}

/** Shared by all listeners of this process. */
const allWaiting = new ByteBudget(httpWaitingBytesMax);

/**
 * Answers the requests of a connection one after the other, so a client that does not wait for
 * answers reads what it wrote before (RFC 9112, 9.3.2). Node parses requests while others wait, and
 * each takes far more memory than its bytes: beyond the budget a connection is closed. `answer`
 * must not reject.
 */
export function inOrder(
  answer: (exchange: Exchange) => Promise<void>,
  budget = allWaiting,
): RequestListener {
  const queues = new WeakMap<Socket, Queue>();
  return (request, response) => {
    const { socket } = request;
    if (socket.destroyed) return; // parsed before the connection was closed
    const queue = queues.get(socket) ?? newQueue(socket, budget);
    queues.set(socket, queue);
    queue.unanswered += 1;
    holdWaiting(queue);
    const exchange = { request, response };
    const current = queue.last?.then(() => answer(exchange)) ?? answer(exchange);
    queue.last = current;
    void current.then(() => {
      queue.unanswered -= 1;
      if (queue.unanswered === 0) {
        queue.last = null;
        return;
      }
      if (socket.destroyed) return;
      holdWaiting(queue);
      queue.held.noteProgress();
    });
  };
}

function newQueue(socket: Socket, budget: ByteBudget): Queue {
  const held = budget.connection(() => void socket.destroy());
  socket.once('close', () => held.leave());
  return { last: null, unanswered: 0, held };
}

function holdWaiting({ held, unanswered }: Queue): void {
  held.hold((unanswered - 1) * httpWaitingRequestBytes);
}
