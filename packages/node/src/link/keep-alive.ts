// Detects vanished connections by pings, at both ends.
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';

/** Counts what has come. */
export type Stream = Pick<Socket, 'bytesRead'>;

/**
 * If nothing arrives between two pings, the other end is gone: detected after at most twice this.
 */
export const pingIntervalMs = 5_000;

/**
 * Terminates an open socket that has received no byte since the last ping. Bytes count and not
 * messages: a long message takes many seconds of a slow line, and a pong waits behind it.
 */
export function keepAlive(socket: WebSocket, stream: Stream): void {
  let bytesRead = -1;
  const pings = setInterval(() => {
    // A paused socket may receive nothing.
    if (stream.bytesRead === bytesRead && !socket.isPaused) {
      socket.terminate();
      return;
    }
    bytesRead = socket.isPaused ? -1 : stream.bytesRead;
    if (socket.readyState === socket.OPEN) socket.ping();
  }, pingIntervalMs);
  socket.on('close', () => clearInterval(pings));
}
