// What somebody shows with a request or a connection.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Grant } from '@ringwright/access/grant';
import { parseToken, type Token } from '@ringwright/access/token';

export interface Credential {
  /** `unreadable`: something was shown that has not the form of a token. */
  readonly token: Token | 'unreadable' | null;
  /** The other end of a connection that was made to a member of a ring, or proved to be one. */
  readonly isPeer: () => boolean;
  /** Whose certificate counts, where one was shown; null: nobody's. */
  readonly socket: Socket | null;
  /** Where it comes from, for the log. */
  readonly from: string;
}

/** A client certificate whose authority counts here. */
export interface Certified {
  /** Of the certificate's subject, for the log. */
  readonly name: string;
  readonly grants: readonly Grant[];
  readonly endsMs: number;
}

const never = (): boolean => false;

/** `Authorization: Bearer ID.SECRET` of a request. */
export function credentialOf({ headers, socket }: IncomingMessage): Credential {
  const from = `${socket.remoteAddress}:${socket.remotePort}`;
  return { token: tokenOf(headers.authorization), isPeer: never, socket, from };
}

/** Of whoever shows this token, or nothing yet. */
export function credentialFrom(
  from: string,
  token: Credential['token'],
  socket: Socket | null = null,
): Credential {
  return { token, isPeer: never, socket, from };
}

function tokenOf(header: string | undefined): Credential['token'] {
  if (header === undefined) return null;
  const [, word = ''] = /^bearer +(\S{1,128}) *$/i.exec(header) ?? [];
  return parseToken(word) ?? 'unreadable';
}
