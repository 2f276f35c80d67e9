// Detects vanished connections by pings, at both ends.
import type { Socket } from 'node:net';
import { slowMessageBytesMin } from '@ringwright/base/limits-wire';
import type { WebSocket } from 'ws';

/** Counts what has come, and what was handed over to be sent. */
export type Stream = Pick<Socket, 'bytesRead' | 'bytesWritten'>;

/** How often a connection is looked at, and pinged while calls wait for their answers. */
export const lookIntervalMs = 1_000;
/** Looks between two pings of an idle connection: a server may have thousands. */
export const idleLooks = 5;
/**
 * Looks without a byte since a ping after which the other end is gone: before the timeout of a call
 * to a peer. A process may be suspended for so long.
 */
export const silentMax = 4;
/**
 * The same while a message is being sent: a pong has to wait for its end on a slow line, and older
 * releases send their own pings every 5 s.
 */
export const silentSendingMax = 6;

/**
 * Terminates an open socket that receives no byte for some looks after a ping. Bytes count and not
 * messages: a long message takes many seconds of a slow line, and a pong waits behind it. Looks
 * count and not the time: what arrived while this process was suspended has not been read yet.
 */
export function keepAlive(socket: WebSocket, stream: Stream, isWaiting: () => boolean): void {
  let [looks, silent, isPinged] = [0, 0, false];
  let [bytesRead, sentWhenRead] = [-1, 0];
  const timer = setInterval(() => {
    // A paused socket may receive nothing.
    if (stream.bytesRead !== bytesRead || socket.isPaused) {
      [bytesRead, sentWhenRead] = [stream.bytesRead, stream.bytesWritten];
      [silent, isPinged] = [0, false];
    } else if (isPinged) silent += 1;
    const isSending = stream.bytesWritten - sentWhenRead >= slowMessageBytesMin;
    if (silent >= (isSending ? silentSendingMax : silentMax)) {
      socket.terminate();
      return;
    }
    looks += 1;
    if (!isWaiting() && looks % idleLooks !== 0) return;
    if (socket.readyState === socket.OPEN) socket.ping();
    isPinged = true;
  }, lookIntervalMs);
  socket.on('close', () => clearInterval(timer));
}
