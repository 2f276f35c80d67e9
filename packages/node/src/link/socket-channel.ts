// A call channel over one WebSocket: frames, timers and the end of the connection.
import { CodedError } from '@ringwright/base/coded-error';
import { freeOwnBytes } from '@ringwright/base/free-bytes';
import { unreadBytesMax } from '@ringwright/base/limits-wire';
import { AnswerBudget } from '@ringwright/wire/answer-budget';
import { CallChannel, type CallHandler, type Closing } from '@ringwright/wire/call-channel';
import { longBytesMin } from '@ringwright/wire/frame';
import type { WebSocket } from 'ws';

const NO_FRAME: Closing = { code: 1007, reason: 'no binary message' };

export interface Answers {
  readonly handlers: ReadonlyMap<string, CallHandler>;
  /** Shared with other connections; the connection has one of its own without it. */
  readonly budget?: AnswerBudget;
  /** Told the bytes of each long message that came. */
  readonly onLongMessage?: (bytes: number) => void;
}

/** Attaches a channel to a socket. Calls wait in the socket's queue until it is open. */
export function socketChannel(
  socket: WebSocket,
  peer: string,
  { handlers, budget = new AnswerBudget(), onLongMessage }: Answers,
): CallChannel {
  const channel = new CallChannel(
    {
      peer,
      send: (frame) => {
        if (frame.length < longBytesMin) socket.send(frame);
        else socket.send(frame, () => freeOwnBytes(frame));
      },
      queuedBytes: () => socket.bufferedAmount,
      answering: budget.connection(socket),
      defer: (work) => void setImmediate(work),
      after: (ms, work) => {
        const timer = setTimeout(work, ms);
        return () => clearTimeout(timer);
      },
    },
    handlers,
  );
  socket.on('message', (data, isBinary) => {
    if (socket.readyState !== socket.OPEN) return; // refused before: nothing more is taken from it
    const closing = isBinary && Buffer.isBuffer(data) ? channel.receive(data) : NO_FRAME;
    if (closing !== null) refuse(socket, closing);
    else if (Buffer.isBuffer(data) && data.length >= longBytesMin) onLongMessage?.(data.length);
  });
  socket.on('close', (code, reason) => {
    const why = reason.length > 0 ? `: ${code} ${reason.toString()}` : '';
    channel.close(new CodedError('PEER_UNREACHABLE', `the connection to ${peer} is closed${why}`));
  });
  // A 'close' always follows an 'error'; the reason reaches the callers from there.
  socket.on('error', () => undefined);
  return channel;
}

/** An end that does not read would never get the frame that says goodbye. */
function refuse(socket: WebSocket, { code, reason }: Closing): void {
  if (socket.bufferedAmount > unreadBytesMax) socket.terminate();
  else socket.close(code, reason);
}
