// One port for TLS and plain connections: the first byte of a connection tells which it is.
import { constants } from 'node:crypto';
import type { Server, Socket } from 'node:net';
import { createSecureContext, createServer, type TLSSocket } from 'node:tls';
import {
  firstByteMsMax,
  silentConnectionsMax,
  tlsHandshakeMsMax,
} from '@ringwright/base/limits-rings';
import { deviceServerName, type TlsIdentity } from './prove-server.ts';

/** First byte of a TLS handshake record; no HTTP or Redis request begins so. */
const HANDSHAKE = 22;

/** Session tickets would let a client reconnect without proving its key again. */
const settings = { minVersion: 'TLSv1.3', secureOptions: constants.SSL_OP_NO_TICKET } as const;

export interface SecurePortOptions {
  /** Shown to clients that ask for the device by its server name. */
  readonly device: TlsIdentity;
  /** Shown to all others, until `show` replaces it. */
  readonly identity: TlsIdentity;
  /** Whether connections without TLS are served too. */
  readonly servesPlain: boolean;
  /** Connections that may be open without having sent anything. */
  readonly silentMax?: number;
  /** Called for each connection that is not served, with the reason. */
  readonly onRefused: (from: string, reason: string) => void;
}

export interface SecurePort {
  /** Takes effect with the next connection. Throws if key and certificate do not match. */
  show(identity: TlsIdentity): void;
  /** Closes all connections, including those not served yet. */
  close(): void;
}

/**
 * Adds TLS to a server that does not listen yet: its own listeners serve encrypted connections like
 * plain ones. Clients may show a certificate, which is not judged here.
 */
export function securePort(server: Server, options: SecurePortOptions): SecurePort {
  const device = createSecureContext({ ...settings, ...options.device });
  const { silentMax = silentConnectionsMax } = options;
  const sockets = new Set<Socket>();
  /** Connections that no listener has seen yet, oldest first, by their remote address and port. */
  const pendingSockets = new Map<string, Socket>();
  const listeners = server.listeners('connection');
  const refuse = (socket: Socket, reason: string): void => {
    if (socket.remoteAddress !== undefined) options.onRefused(callerOf(socket), reason);
    socket.destroy();
  };
  const pass = (socket: Socket): void => {
    pendingSockets.delete(callerOf(socket));
    for (const listener of listeners) listener.call(server, socket);
  };
  const secure = createServer({
    ...settings,
    ...options.identity,
    requestCert: true,
    rejectUnauthorized: false,
    handshakeTimeout: tlsHandshakeMsMax,
    SNICallback: (name, done) => done(null, name === deviceServerName ? device : undefined),
  });
  secure.on('secureConnection', pass);
  secure.on('tlsClientError', (error: Error, socket: TLSSocket) => refuse(socket, error.message));
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const caller = callerOf(socket);
    sockets.add(socket);
    pendingSockets.set(caller, socket);
    socket.once('close', () => {
      sockets.delete(socket);
      if (pendingSockets.get(caller) === socket) pendingSockets.delete(caller);
    });
    const [oldest] = pendingSockets.values();
    if (oldest !== undefined && pendingSockets.size > silentMax) {
      refuse(oldest, `it had sent nothing when ${silentMax} more were open`);
    }
    firstByteOf(socket, {
      onByte: (byte) => {
        if (byte === HANDSHAKE) secure.emit('connection', socket);
        else if (options.servesPlain) pass(socket);
        else refuse(socket, 'it does not speak TLS');
      },
      onNone: (reason) => refuse(socket, reason),
    });
  });
  return {
    show: (identity) => secure.setSecureContext({ ...settings, ...identity }),
    close: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** The same key for a socket and for the TLS connection over it. */
function callerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress}:${remotePort}`;
}

interface FirstByte {
  readonly onByte: (byte: number) => void;
  readonly onNone: (reason: string) => void;
}

/** Reads the first byte and puts it back. A silent connection may wait only so long. */
function firstByteOf(socket: Socket, { onByte, onNone }: FirstByte): void {
  const onError = (error: Error): void => onNone(error.message);
  const onEnd = (): void => void socket.destroy();
  const timer = setTimeout(
    () => onNone(`no data arrived within ${firstByteMsMax} ms`),
    firstByteMsMax,
  );
  const readFirst = (): void => {
    const bytes: Buffer | null = socket.read();
    if (bytes === null) {
      // Either nothing has arrived yet, or the stream has ended.
      if (!socket.readableEnded && !socket.destroyed) socket.once('readable', readFirst);
      return;
    }
    clearTimeout(timer);
    socket.off('error', onError);
    socket.off('end', onEnd);
    socket.unshift(bytes);
    onByte(bytes[0] ?? 0);
  };
  socket.on('error', onError);
  socket.once('end', onEnd);
  socket.once('close', () => clearTimeout(timer));
  readFirst();
}
