// The WebSocket endpoint /v1/wire, where other servers and the tool connect.
import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
import {
  httpEndMsMax,
  wireBegunBytesMax,
  wireBegunBytesMin,
  wirePerAddressMax,
  wirePieceBytes,
  wireReservedMax,
} from '@ringwright/base/limits-listeners';
import { wireConnectionsMax } from '@ringwright/base/limits-rings';
import { keyIdOf } from '@ringwright/node/link/prove-server';
import { type ChannelOptions, socketChannel } from '@ringwright/node/link/socket-channel';
import { AnswerBudget } from '@ringwright/wire/answer-budget';
import type { Caller } from '@ringwright/wire/call-channel';
import { socketSettings } from '@ringwright/wire/socket-settings';
import { type WebSocket, WebSocketServer } from 'ws';
import { affordableBytes, ByteBudget } from '../access/byte-budget.ts';
import { ConnectionLimiter } from '../access/connection-limiter.ts';
import { refuseConnection } from '../access/refuse-connection.ts';
import { malformationOf } from './check-request.ts';

interface WirePorts extends ChannelOptions {
  /** Whether a caller is a device of a ring or an operator: some connections are reserved for them. */
  readonly isKnown?: (request: IncomingMessage) => boolean;
  /**
   * Called with a caller that proved a key, and a function that ends its connection. The function
   * returned is called when the connection has closed.
   */
  readonly onProven?: (caller: Caller, key: string, end: () => void) => () => void;
  /**
   * Whether a caller has no permission here. Its connection is closed at the limit.
   */
  readonly isPowerless?: (caller: Caller) => boolean;
  /** Limits the incomplete messages of all callers that are not known. */
  readonly incompleteBudget?: ByteBudget;
  /** Called for each connection, with the request that opened it. */
  readonly onChannel?: (channel: Caller, request: IncomingMessage) => void;
}

/**
 * Accepts connections on the HTTP server's port. Returns a function that closes them all, once the
 * calls under way are answered, and at the latest after httpEndMsMax.
 */
export function acceptWire(
  http: Server,
  {
    budget = new AnswerBudget(),
    incompleteBudget = incompleteMessages,
    onProven,
    onChannel,
    isKnown,
    isPowerless,
    ...answers
  }: WirePorts,
  connectionsMax = wireConnectionsMax,
): () => Promise<void> {
  // Connections of clients and servers live long. Pings find dead ones.
  const limiter = new ConnectionLimiter({
    max: connectionsMax,
    reserved: isKnown === undefined ? 0 : Math.min(wireReservedMax, connectionsMax >> 3),
    perAddressMax: wirePerAddressMax,
  });
  const sockets = new WebSocketServer({ noServer: true, ...socketSettings });
  const leaveBySocket = new Map<WebSocket, () => void>();
  let isEnding = false;
  http.on('upgrade', (request, socket, head) => {
    // No other listener remains from here on: without this one, a reset connection would end the
    // process.
    socket.on('error', () => socket.destroy());
    const requestRefusal = refusalOf(request);
    let mayEnd = (): boolean => false;
    const connection = {
      address: request.socket.remoteAddress ?? '',
      isKnown: () => isKnown?.(request) === true,
      isBusy: () => !mayEnd(),
      end: () => void request.socket.destroy(),
    };
    const admission = requestRefusal === null && !isEnding ? limiter.admit(connection) : null;
    const refusal = requestRefusal ?? (admission === null ? '503 Service Unavailable' : null);
    if (admission !== null) request.socket.once('close', () => admission.leave());
    if (refusal !== null) {
      refuseConnection(socket, `HTTP/1.1 ${refusal}\r\nconnection: close\r\n\r\n`);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const peer = `${request.socket.remoteAddress}:${request.socket.remotePort}`;
      const onLeaver = (leave: () => void): void => void leaveBySocket.set(webSocket, leave);
      const end = { peer, stream: request.socket };
      const channel = socketChannel(webSocket, end, { ...answers, budget, onLeaver });
      webSocket.once('close', () => leaveBySocket.delete(webSocket));
      if (!connection.isKnown()) countBegun(webSocket, request.socket, incompleteBudget);
      mayEnd = () => isPowerless?.(channel) === true;
      onChannel?.(channel, request);
      const key = keyShown(request);
      if (key !== null && onProven !== undefined) {
        const end = (): void =>
          webSocket.close(1008, 'no ring names the key of this caller any more');
        webSocket.once('close', onProven(channel, key, end));
      }
    });
  });
  return async () => {
    isEnding = true;
    const ended = [...leaveBySocket.keys()].map((webSocket) => once(webSocket, 'close'));
    for (const leave of leaveBySocket.values()) leave();
    await Promise.race([Promise.allSettled(ended), delay(httpEndMsMax, null, { ref: false })]);
    for (const socket of sockets.clients) socket.terminate();
    sockets.close();
  };
}

/** Returns the id of the key that the caller proved when it connected; null: none. */
function keyShown({ socket }: IncomingMessage): string | null {
  const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
  return certificate === undefined ? null : keyIdOf(certificate);
}

/**
 * Refuses upgrades that web pages request. They may open sockets to any address, even on this
 * machine, and browsers mark them, whatever host name the page uses. Programs may use any host
 * name.
 */
function refusalOf(request: IncomingMessage): string | null {
  const { url, headers } = request;
  if (malformationOf(request) !== null) return '400 Bad Request';
  if (url !== '/v1/wire') return '404 Not Found';
  const { origin, 'sec-fetch-site': site } = headers;
  if (origin !== undefined || site !== undefined) return '403 Forbidden';
  return null;
}

/** What has come of messages that are not whole yet, of all listeners of this process together. */
const incompleteMessages = new ByteBudget(affordableBytes(wireBegunBytesMax));

/** Header of a ping or pong from a client (RFC 6455, 5.2): two bytes and the mask. */
const CONTROL_HEAD_BYTES = 6;

/** Ends the connection when others need the room that its incomplete message takes. */
function countBegun(webSocket: WebSocket, socket: Socket, budget: ByteBudget): void {
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
