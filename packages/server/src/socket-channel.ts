// A call channel over one WebSocket: frames, timers and the end of the connection.
import { CodedError } from '@ringwright/base/coded-error';
import { freeOwnBytes } from '@ringwright/base/free-bytes';
import { unreadBytesMax } from '@ringwright/base/limits-wire';
import { CallChannel, type CallHandler } from '@ringwright/wire/call-channel';
import { longBytesMin } from '@ringwright/wire/frame';
import type { WebSocket } from 'ws';
import { longMessageCame } from './young-garbage.ts';

/** Attaches a channel to a socket. Calls wait in the socket's queue until it is open. */
export function socketChannel(
  socket: WebSocket,
  peer: string,
  handlers: ReadonlyMap<string, CallHandler>,
): CallChannel {
  const channel = new CallChannel(
    {
      peer,
      send: (frame) => {
        if (frame.length < longBytesMin) socket.send(frame);
        else socket.send(frame, () => freeOwnBytes(frame));
      },
      queuedBytes: () => socket.bufferedAmount,
      defer: (work) => void setImmediate(work),
      after: (ms, work) => {
        const timer = setTimeout(work, ms);
        return () => clearTimeout(timer);
      },
    },
    handlers,
  );
  socket.on('message', (data, isBinary) => {
    const frame = Buffer.isBuffer(data) ? data : null;
    if (socket.readyState !== socket.OPEN) return; // refused before: nothing more is taken from it
    if (!isBinary || frame === null || !channel.receive(frame)) refuse(socket);
    else if (frame.length >= longBytesMin) longMessageCame(frame.length);
  });
  socket.on('close', () => {
    channel.close(new CodedError('PEER_UNREACHABLE', `the connection to ${peer} is closed`));
  });
  // A 'close' always follows an 'error'; the reason reaches the callers from there.
  socket.on('error', () => undefined);
  return channel;
}

/** An end that does not read would never get the frame that says goodbye. */
function refuse(socket: WebSocket): void {
  if (socket.bufferedAmount > unreadBytesMax) socket.terminate();
  else socket.close(1007, 'no frame');
}
