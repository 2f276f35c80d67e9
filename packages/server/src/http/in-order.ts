// The requests of a connection, one after the other, and limits for requests that wait and for
// answers that are not read.
import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import {
  httpUnreadBytesMax,
  httpWaitingBytesMax,
  httpWaitingRequestBytes,
} from '@ringwright/base/limits-listeners';
import { affordableBytes, ByteBudget, type HeldBytes } from '../access/byte-budget.ts';
import type { Exchange } from './http-answer.ts';

interface Queue {
  /** Resolves when the newest request is answered. */
  last: Promise<void> | null;
  /** Requests that are not answered yet. */
  unanswered: number;
  readonly waiting: HeldBytes;
  readonly unread: HeldBytes;
}

/** Shared by all listeners of this process. */
const allConnections = {
  waiting: new ByteBudget(affordableBytes(httpWaitingBytesMax)),
  unread: new ByteBudget(affordableBytes(httpUnreadBytesMax)),
};

/**
 * Answers the requests of a connection one after the other, so a client that does not wait for
 * answers reads what it wrote before (RFC 9112, 9.3.2). Node parses requests while others wait, and
 * each takes far more memory than its bytes: beyond the budget a connection is closed. The next
 * request is answered when the client has read the answer before: one read of a socket brings a
 * thousand requests, whose answers may be 1 MiB each. `answer` must not reject.
 */
export function inOrder(
  answer: (exchange: Exchange) => Promise<void>,
  budgets = allConnections,
): RequestListener {
  const queues = new WeakMap<Socket, Queue>();
  return (request, response) => {
    const { socket } = request;
    if (socket.destroyed) return; // parsed before the connection was closed
    const queue = queues.get(socket) ?? newQueue(socket, budgets);
    queues.set(socket, queue);
    queue.unanswered += 1;
    holdWaiting(queue);
    const answerNow = async (): Promise<void> => {
      if (socket.destroyed) return;
      await answer({ request, response });
      if (!response.writableFinished && !socket.destroyed) await waitForReader(response, queue);
    };
    const current = queue.last?.then(answerNow) ?? answerNow();
    queue.last = current;
    void current.then(() => {
      queue.unanswered -= 1;
      if (queue.unanswered === 0) {
        queue.last = null;
        return;
      }
      if (socket.destroyed) return;
      holdWaiting(queue);
      queue.waiting.noteProgress();
    });
  };
}

function newQueue(socket: Socket, budgets: typeof allConnections): Queue {
  const end = (): void => void socket.destroy();
  const waiting = budgets.waiting.connection(end);
  const unread = budgets.unread.connection(end);
  socket.once('close', () => {
    waiting.leave();
    unread.leave();
  });
  return { last: null, unanswered: 0, waiting, unread };
}

function holdWaiting({ waiting, unanswered }: Queue): void {
  waiting.hold((unanswered - 1) * httpWaitingRequestBytes);
}

/** Resolves when the system has taken all bytes of the answer, or the connection is closed. */
async function waitForReader(response: ServerResponse, { unread }: Queue): Promise<void> {
  const closed = new Promise((resolve) => response.once('close', resolve));
  unread.hold(response.writableLength);
  await closed;
  unread.hold(0);
}
