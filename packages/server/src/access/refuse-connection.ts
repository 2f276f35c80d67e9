// Connections that are told why they are not served.
import type { Duplex } from 'node:stream';
import { refusedLingerMs } from '@ringwright/base/limits-listeners';

/**
 * The last words to a connection that nobody serves. Unread bytes would keep its descriptor when
 * the other end has closed, one that stays half open would keep it for good, and one that is reset
 * would end the process.
 */
export function refuseConnection(socket: Duplex, words: string): void {
  socket.on('error', () => undefined);
  socket.resume();
  socket.end(words);
  setTimeout(() => socket.destroy(), refusedLingerMs).unref();
}
