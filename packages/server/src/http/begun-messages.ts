// What has come of WebSocket messages that are not whole yet, of all connections together.
import type { Socket } from 'node:net';
import {
  wireBegunBytesMax,
  wireBegunBytesMin,
  wirePieceBytes,
} from '@ringwright/base/limits-listeners';
import type { WebSocket } from 'ws';
import { ByteBudget } from '../access/byte-budget.ts';

/** Of all listeners of this process. */
export const begunMessages = new ByteBudget(wireBegunBytesMax);

/** Before what a ping or pong says (RFC 6455, 5.2): two, and the mask. */
const CONTROL_HEAD_BYTES = 6;

/** Ends the connection when others want the room that its half of a message takes. */
export function countBegun(webSocket: WebSocket, socket: Socket, budget: ByteBudget): void {
  const held = budget.connection(() => void socket.destroy());
  let bytes = 0;
  let isNewPiece = false;
  const note = (next: number): void => {
    bytes = Math.max(0, next);
    held.hold(bytes < wireBegunBytesMin ? 0 : bytes);
  };
  // Before it is looked at: what is whole after this piece is said in the same turn.
  socket.prependListener('data', ({ length }: Buffer) => {
    isNewPiece = true;
    note(bytes + length + wirePieceBytes);
  });
  webSocket.on('message', () => note(0));
  // These come in the midst of a message too, many in one piece perhaps.
  const onControl = ({ length }: Buffer): void => {
    note(bytes - length - CONTROL_HEAD_BYTES - (isNewPiece ? wirePieceBytes : 0));
    isNewPiece = false;
  };
  webSocket.on('ping', onControl);
  webSocket.on('pong', onControl);
  socket.once('close', () => held.leave());
}
