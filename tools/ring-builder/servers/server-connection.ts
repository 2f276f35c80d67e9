// One connection of the tool to one server, for as long as some work takes.
import { CodedError } from '@ringwright/base/coded-error';
import { socketChannel } from '@ringwright/server/peers/socket-channel';
import type { Caller } from '@ringwright/wire/call-channel';
import { meetServer } from '@ringwright/wire/meet-server';
import { socketSettings } from '@ringwright/wire/socket-settings';
import { socketUrl } from '@ringwright/wire/socket-url';
import { WebSocket } from 'ws';

export const connectTimeoutMs = 3_000;

/** Throws PEER_UNREACHABLE, WIRE_VERSION_UNKNOWN, and whatever `work` throws. */
export async function withServer<Result>(
  address: string,
  nowMs: number,
  work: (server: Caller) => Promise<Result>,
): Promise<Result> {
  const socket = new WebSocket(socketUrl(address), {
    ...socketSettings,
    handshakeTimeout: connectTimeoutMs,
  });
  const channel = socketChannel(socket, address, { handlers: new Map() });
  try {
    await new Promise((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', (cause) => {
        const message = `${address} cannot be reached: ${cause.message}`;
        reject(new CodedError('PEER_UNREACHABLE', message, { cause }));
      });
    });
    await meetServer(channel, { address, ms: nowMs, timeoutMs: connectTimeoutMs });
    return await work(channel);
  } finally {
    socket.terminate();
  }
}
