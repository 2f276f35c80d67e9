// Detects vanished connections by pings, at both ends.
import type { Socket } from 'node:net';
import { slowMessageBytesMin } from '@ringwright/base/limits-wire';
import type { CallChannel } from '@ringwright/wire/call-channel';
import type { WebSocket } from 'ws';

/** Counts what has come, and what was handed over to be sent. */
export type Stream = Pick<Socket, 'bytesRead' | 'bytesWritten'>;
type Calls = Pick<CallChannel['waiting'], 'size' | 'notePing' | 'notePong'>;

/**
 * How often a connection is looked at, and pinged while calls wait for their answers or a long
 * message arrives.
 */
export const lookIntervalMs = 1_000;
/** Looks between two pings of an idle connection: a server may have thousands. */
export const idleLooks = 5;
/**
 * Looks without a byte since a ping after which the other end is gone: before the timeout of a call
 * to a peer. A process may be suspended for so long.
 */
export const silentMax = 4;
/**
 * The same while a long message is being sent: a pong has to wait for its end on a slow line, and
 * older releases send their own pings every 5 s.
 */
export const silentSendingMax = 6;

/**
 * Terminates an open socket that receives no byte for some looks after a ping. Bytes count and not
 * messages: a long message takes many seconds of a slow line, and a pong waits behind it. Looks
 * count and not the time: what arrived while this process was suspended has not been read yet.
 *
 * A ping carries its number, the count of bytes and the last call before it. The pong repeats them
 * (RFC 6455, 5.5.3): these have reached the other end. A byte from there does not tell: it may have
 * sent that while a long message was on its way.
 */
export function keepAlive(socket: WebSocket, stream: Stream, calls: Calls): void {
  let [looks, silent, isPinged] = [0, 0, false];
  let [bytesRead, bytesReceived] = [-1, 0];
  const timer = setInterval(() => {
    const newBytes = stream.bytesRead - bytesRead;
    bytesRead = stream.bytesRead;
    // A paused socket may receive nothing.
    if (newBytes > 0 || socket.isPaused) [silent, isPinged] = [0, false];
    else if (isPinged) silent += 1;
    const isSending = stream.bytesWritten - bytesReceived >= slowMessageBytesMin;
    if (silent >= (isSending ? silentSendingMax : silentMax)) {
      socket.terminate();
      return;
    }
    looks += 1;
    // The sender of a long message gets no pong before its end.
    const isReceiving = newBytes >= slowMessageBytesMin;
    if (calls.size === 0 && !isReceiving && looks % idleLooks !== 0) return;
    const { ping, sentId } = calls.notePing();
    if (socket.readyState === socket.OPEN) socket.ping(`${stream.bytesWritten} ${ping} ${sentId}`);
    isPinged = true;
  }, lookIntervalMs);
  socket.on('pong', (content) => {
    const [bytes = 0, ping = 0, sentId = 0] = String(content).split(' ').map(Number);
    bytesReceived = bytes;
    calls.notePong({ ping, sentId });
  });
  socket.on('close', () => clearInterval(timer));
}
