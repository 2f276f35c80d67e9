// Counts the bytes of incomplete WebSocket messages, over all connections together.
import type { Socket } from 'node:net';
import {
  wireBegunBytesMax,
  wireBegunBytesMin,
  wirePieceBytes,
} from '@ringwright/base/limits-listeners';
import type { WebSocket } from 'ws';
import { ByteBudget } from '../access/byte-budget.ts';

/** Shared by all listeners of this process. */
export const begunMessages = new ByteBudget(wireBegunBytesMax);

/** Header of a ping or pong from a client (RFC 6455, 5.2): two bytes and the mask. */
const CONTROL_HEAD_BYTES = 6;

/** Ends the connection when others need the room that its incomplete message takes. */
export function countBegun(webSocket: WebSocket, socket: Socket, budget: ByteBudget): void {
  const held = budget.connection(() => void socket.destroy());
  let bytes = 0;
  let isNewPiece = false;
  const note = (next: number): void => {
    bytes = Math.max(0, next);
    held.hold(bytes < wireBegunBytesMin ? 0 : bytes);
  };
  // Runs before the WebSocket reads the piece. If the piece completes a message, 'message' follows
  // in the same turn.
  socket.prependListener('data', ({ length }: Buffer) => {
    isNewPiece = true;
    note(bytes + length + wirePieceBytes);
  });
  webSocket.on('message', () => note(0));
  // Control frames may come in the middle of a message, perhaps many in one piece.
  const onControl = ({ length }: Buffer): void => {
    note(bytes - length - CONTROL_HEAD_BYTES - (isNewPiece ? wirePieceBytes : 0));
    isNewPiece = false;
  };
  webSocket.on('ping', onControl);
  webSocket.on('pong', onControl);
  socket.once('close', () => held.leave());
}
