// The WebSocket endpoint /v1/wire: other servers and the tool call in here.
import type { Server } from 'node:http';
import type { CallHandler } from '@ringwright/wire/call-channel';
import { WebSocketServer } from 'ws';
import { socketSettings } from './peer.ts';
import { socketChannel } from './socket-channel.ts';

/** Connections that vanished without a word are found by pings this far apart. */
const PING_INTERVAL_MS = 5_000;

/** Accepts connections on the HTTP server's port; the function returned closes them all. */
export function acceptWire(http: Server, handlers: ReadonlyMap<string, CallHandler>): () => void {
  const sockets = new WebSocketServer({ noServer: true, ...socketSettings });
  http.on('upgrade', (request, socket, head) => {
    if (request.url !== '/v1/wire') {
      socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n');
      return;
    }
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const peer = `${request.socket.remoteAddress}:${request.socket.remotePort}`;
      socketChannel(webSocket, peer, handlers);
      let alive = true;
      webSocket.on('pong', () => {
        alive = true;
      });
      const pings = setInterval(() => {
        if (!alive) webSocket.terminate();
        alive = false;
        webSocket.ping();
      }, PING_INTERVAL_MS);
      webSocket.on('close', () => clearInterval(pings));
    });
  });
  return () => {
    for (const socket of sockets.clients) socket.terminate();
    sockets.close();
  };
}
