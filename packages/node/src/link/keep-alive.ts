// Detects vanished connections by pings, at both ends.
import type { WebSocket } from 'ws';

/**
 * If nothing arrives between two pings, the other end is gone: detected after at most twice this.
 */
export const pingIntervalMs = 5_000;

/** Terminates an open socket that has received nothing since the last ping. */
export function keepAlive(socket: WebSocket): void {
  let alive = true;
  const onTraffic = (): void => {
    alive = true;
  };
  socket.on('pong', onTraffic);
  socket.on('message', onTraffic);
  const pings = setInterval(() => {
    // A paused socket may receive nothing.
    if (!alive && !socket.isPaused) {
      socket.terminate();
      return;
    }
    alive = socket.isPaused;
    if (socket.readyState === socket.OPEN) socket.ping();
  }, pingIntervalMs);
  socket.on('close', () => clearInterval(pings));
}
