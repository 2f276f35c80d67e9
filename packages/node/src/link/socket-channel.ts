// A call channel over one WebSocket: frames, timers and the end of the connection.
import { CodedError } from '@ringwright/base/coded-error';
import { freeOwnBytes } from '@ringwright/base/free-bytes';
import { unreadBytesMax } from '@ringwright/base/limits-wire';
import { AnswerBudget } from '@ringwright/wire/answer-budget';
import { CallChannel, type CallHandler, type CloseReason } from '@ringwright/wire/call-channel';
import { longBytesMin } from '@ringwright/wire/frame';
import type { WebSocket } from 'ws';
import { keepAlive, type Stream } from './keep-alive.ts';

const NO_FRAME: CloseReason = { code: 1007, reason: 'not a binary message' };
/**
 * A close code of the range for applications. Calls not answered by then were not run, and never
 * will be.
 */
const leaveReason = { code: 4001, reason: 'this server is stopping' } as const;

export interface ChannelOptions {
  readonly handlers: ReadonlyMap<string, CallHandler>;
  /** Shared with other connections; without it the connection gets its own. */
  readonly budget?: AnswerBudget;
  /** Called with the bytes of each long message received. */
  readonly onLongMessage?: (bytes: number) => void;
  /** Gets each error without a code that a call here ended with. */
  readonly onBug?: (error: unknown) => void;
  /**
   * Receives a function that ends the connection gracefully: new calls are ignored, calls in flight
   * are answered, and then the connection is closed.
   */
  readonly onLeaver?: (leave: () => void) => void;
}

/**
 * Attaches a channel to a socket. Calls wait in the socket's queue until it is open. `stream`: what
 * the socket runs on; absent: it is not connected yet.
 */
export function socketChannel(
  socket: WebSocket,
  { peer, stream }: { readonly peer: string; readonly stream?: Stream },
  { handlers, budget = new AnswerBudget(), onLongMessage, onBug, onLeaver }: ChannelOptions,
): CallChannel {
  let arrivingBytes = (): number => 0;
  const watch = (open: Stream): void => {
    arrivingBytes = countArriving(socket, open);
    keepAlive(socket, open, channel.waiting);
  };
  const reportBytes = budget.connection(socket);
  let [answeringBytes, isLeaving, ignoresMessages] = [0, false, false];
  const closeOnceIdle = (): void => {
    if (!isLeaving || answeringBytes > 0) return;
    // After the answers, which are sent at the end of this turn.
    setImmediate(() => socket.close(leaveReason.code, leaveReason.reason));
  };
  onLeaver?.(() => {
    isLeaving = true;
    closeOnceIdle();
  });
  const channel = new CallChannel(
    {
      peer,
      ...(onBug && { onBug }),
      send: (frame) => {
        if (frame.length < longBytesMin) socket.send(frame);
        else socket.send(frame, () => freeOwnBytes(frame));
      },
      queuedBytes: () => socket.bufferedAmount,
      arrivingBytes: () => arrivingBytes(),
      answering: (bytes) => {
        reportBytes(bytes);
        answeringBytes += bytes;
        closeOnceIdle();
      },
      defer: (work) => void setImmediate(work),
      after: (ms, work) => {
        const timer = setTimeout(work, ms);
        return () => clearTimeout(timer);
      },
    },
    handlers,
  );
  if (stream === undefined) socket.once('upgrade', (answer) => watch(answer.socket));
  else watch(stream);
  socket.on('message', (data, isBinary) => {
    // After a refusal or while leaving, further messages are ignored.
    ignoresMessages ||= isLeaving || socket.readyState !== socket.OPEN;
    if (ignoresMessages) return;
    const closing = isBinary && Buffer.isBuffer(data) ? channel.receive(data) : NO_FRAME;
    if (closing !== null) refuse(socket, closing);
    else if (Buffer.isBuffer(data) && data.length >= longBytesMin) onLongMessage?.(data.length);
  });
  socket.on('close', (code, reason) => {
    const why = reason.length > 0 ? `: ${code} ${reason.toString()}` : '';
    const message = `the connection to ${peer} is closed${why}`;
    // If this end was closing too, answers to calls that did run may have been ignored.
    const isPeerStopping = code === leaveReason.code && !isLeaving && !ignoresMessages;
    const details = isPeerStopping ? { outcome: 'rejected' } : {};
    channel.close(new CodedError('PEER_UNREACHABLE', message, { details }));
  });
  // A 'close' always follows an 'error', and tells the callers the reason.
  socket.on('error', () => undefined);
  return channel;
}

/** Returns a function that returns how many bytes have come since the last complete message. */
function countArriving(socket: WebSocket, stream: Stream): () => number {
  let complete = stream.bytesRead;
  const noteComplete = (): void => {
    complete = stream.bytesRead;
  };
  // Pings and pongs do not interrupt a message, because each message is one frame.
  for (const event of ['message', 'ping', 'pong']) socket.prependListener(event, noteComplete);
  return () => stream.bytesRead - complete;
}

/** Closes with a reason, unless the other end does not read: it would never get the close frame. */
function refuse(socket: WebSocket, { code, reason }: CloseReason): void {
  if (socket.bufferedAmount > unreadBytesMax) socket.terminate();
  else socket.close(code, reason);
}
