// Refuses a connection with a last message.
import type { Duplex } from 'node:stream';
import { refusedLingerMs } from '@ringwright/base/limits-listeners';

/**
 * Sends the message and closes the connection. Its input is read and discarded, because unread
 * bytes would keep the descriptor open after the peer has closed. The timeout ends a half-open
 * connection. Without a listener for errors, a reset would end the process.
 */
export function refuseConnection(socket: Duplex, message: string): void {
  socket.on('error', () => undefined);
  socket.resume();
  socket.end(message);
  setTimeout(() => socket.destroy(), refusedLingerMs).unref();
}
