// Connections that vanished without a word: found by pings, on both ends.
import type { WebSocket } from 'ws';

/** Two pings without a word between them: the other end is gone after at most twice this. */
export const pingIntervalMs = 5_000;

/** Ends an open socket from which nothing has come since the last ping. */
export function keepAlive(socket: WebSocket): void {
  let alive = true;
  const heard = (): void => {
    alive = true;
  };
  socket.on('pong', heard);
  socket.on('message', heard);
  const pings = setInterval(() => {
    // From a paused one nothing may come.
    if (!alive && !socket.isPaused) {
      socket.terminate();
      return;
    }
    alive = socket.isPaused;
    if (socket.readyState === socket.OPEN) socket.ping();
  }, pingIntervalMs);
  socket.on('close', () => clearInterval(pings));
}
