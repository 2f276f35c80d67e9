// Detects vanished connections by pings, at both ends.
import type { Socket } from 'node:net';
import { slowMessageBytesMin } from '@ringwright/base/limits-wire';
import type { WebSocket } from 'ws';

/** Counts what has come, and what was handed over to be sent. */
export type Stream = Pick<Socket, 'bytesRead' | 'bytesWritten'>;

export const pingIntervalMs = 1_000;
/**
 * Intervals without a byte after which the other end is gone, before the timeout of a call to a
 * peer. A process may be suspended for so long.
 */
export const silentMax = 4;
/**
 * The same while a message is being sent: a pong has to wait for its end on a slow line, and older
 * releases send their own pings every 5 s.
 */
export const silentSendingMax = 6;

/**
 * Terminates an open socket that receives no byte for some intervals. Bytes count and not messages:
 * a long message takes many seconds of a slow line, and a pong waits behind it. Intervals count and
 * not the time: what arrived while this process was suspended has not been read yet.
 */
export function keepAlive(socket: WebSocket, stream: Stream): void {
  let [silent, bytesRead, bytesSent, sentWhenRead] = [0, -1, -1, 0];
  const pings = setInterval(() => {
    const hasRead = stream.bytesRead !== bytesRead;
    // A paused socket may receive nothing.
    if (hasRead || socket.isPaused) [silent, sentWhenRead] = [0, stream.bytesWritten];
    else silent += 1;
    bytesRead = stream.bytesRead;
    const isSending = stream.bytesWritten - sentWhenRead >= slowMessageBytesMin;
    if (silent >= (isSending ? silentSendingMax : silentMax)) {
      socket.terminate();
      return;
    }
    // A line that is busy in both directions needs no pings.
    const needsPing = !hasRead || stream.bytesWritten === bytesSent;
    if (needsPing && socket.readyState === socket.OPEN) socket.ping();
    bytesSent = stream.bytesWritten;
  }, pingIntervalMs);
  socket.on('close', () => clearInterval(pings));
}
