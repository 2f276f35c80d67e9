// Connections of HTTP: their number (at the limit, the oldest on which no request is under way is
// closed), and requests on them that Node cannot read to their end. By itself it answers those
// with a bare status; here they get the document of every other refusal.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { CodedError, withoutStack } from '@ringwright/base/coded-error';
import { keyBytesMax } from '@ringwright/base/limits';
import {
  httpHeaderBytesMax,
  httpHeadersMsMax,
  httpPerAddressMax,
  httpRequestMsMax,
  httpSpareConnections,
} from '@ringwright/base/limits-listeners';
import { httpConnectionsMax } from '@ringwright/base/limits-rings';
import { type Admission, ConnectionLimiter } from '../access/connection-limiter.ts';
import { refuseConnection } from '../access/refuse-connection.ts';
import { answerError, type Exchange, endWithAnswer, failureOf } from './http-answer.ts';

const { STATUS_CODES } = process.getBuiltinModule('node:http');

interface Unread extends Error {
  readonly code?: string;
  /** What the parser did not understand. */
  readonly reason?: string;
}

export function refuseUnreadable(server: Server): void {
  const last = new WeakMap<Socket, Exchange>();
  const refused = new WeakSet<Socket>();
  server.on('request', (request, response) => last.set(request.socket, { request, response }));
  server.on('clientError', (error: Unread, socket: Socket) => {
    if (refused.has(socket)) return; // more of the same bytes
    refused.add(socket);
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy();
    else {
      const refusal = withoutStack(() => refusalOf(error));
      refuse(socket, refusal, last.get(socket));
    }
  });
}

/**
 * `last`: the request before on this connection. Its answer must not be cut off, and the client
 * must not take this refusal for it.
 */
function refuse(socket: Socket, refusal: CodedError, last: Exchange | undefined): void {
  const end = (): void => refuseConnection(socket, answerOf(refusal));
  if (last === undefined || last.response.writableFinished) end();
  else if (last.request.complete) last.response.once('finish', end);
  else {
    // The unreadable bytes belong to the body of that request.
    endWithAnswer(last);
    answerError(last.response, refusal);
  }
}

function refusalOf({ code, reason, message }: Unread): CodedError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const max = httpHeaderBytesMax;
    const what = `the first line and the headers of a request have more than ${max} bytes`;
    const hint = `a key has at most ${keyBytesMax} bytes; send a shorter path, or fewer headers`;
    return new CodedError('HEADERS_TOO_LARGE', what, { hint, details: { max } });
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    const [headers, whole] = [httpHeadersMsMax / 1_000, httpRequestMsMax / 1_000];
    const what = `headers must arrive within ${headers} s, and a whole request within ${whole} s`;
    return new CodedError('REQUEST_LATE', what, { hint: 'send it without pauses' });
  }
  const what = `the request cannot be read as HTTP/1.1: ${reason ?? message}`;
  return new CodedError('USAGE', what, { hint: 'percent-encode keys, and send complete requests' });
}

function answerOf(refusal: CodedError): string {
  const { status, error } = failureOf(refusal);
  const body = `${JSON.stringify(error)}\n`;
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

interface Seat {
  readonly admission: Admission;
  /** Requests under way. An upgraded connection counts as one until it closes. */
  requests: number;
}

/** `share`: see connectionShare. */
export function limitConnections(server: Server, share: number): void {
  server.maxConnections = Math.ceil(httpConnectionsMax * share);
  const limiter = new ConnectionLimiter({
    max: Math.ceil((httpConnectionsMax - httpSpareConnections) * share),
    reserved: 0,
    perAddressMax: Math.ceil(httpPerAddressMax * share),
  });
  const seats = new WeakMap<Socket, Seat>();
  server.on('connection', (socket: Socket) => {
    const admission = limiter.admit({
      address: socket.remoteAddress ?? '',
      isKnown: () => false,
      isBusy: () => (seats.get(socket)?.requests ?? 0) > 0,
      end: () => void socket.destroy(),
    });
    if (admission === null) {
      socket.destroy();
      return;
    }
    seats.set(socket, { admission, requests: 0 });
    socket.once('close', () => admission.leave());
  });
  server.on('request', ({ socket }, response) => {
    const seat = seats.get(socket);
    if (seat === undefined) return;
    seat.requests += 1;
    seat.admission.used();
    response.once('close', () => {
      seat.requests -= 1;
    });
  });
  server.on('upgrade', ({ socket }) => {
    const seat = seats.get(socket);
    if (seat !== undefined) seat.requests += 1;
  });
}
