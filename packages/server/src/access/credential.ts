// What somebody shows with a request or a connection, and what this server shows itself.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Grant } from '@ringwright/access/grant';
import { parseToken, type Token, tokenText } from '@ringwright/access/token';
import { CodedError } from '@ringwright/base/coded-error';
import { accessFileBytesMax } from '@ringwright/base/limits';
import { readPrivateFile, unreadable } from '@ringwright/node/read-regular-file';

export interface Credential {
  /** `unreadable`: something was shown that does not have the form of a token. */
  readonly token: Token | 'unreadable' | null;
  /** Whether the connection was made to a device of a ring, or its other end proved to be one. */
  readonly isPeer: () => boolean;
  /** The connection whose client certificate counts; null: no certificate counts. */
  readonly socket: Socket | null;
  /** Where the caller comes from, for the log. */
  readonly from: string;
}

/** A client certificate that an accepted authority has signed. */
export interface Certified {
  /** From the certificate's subject, for the log. */
  readonly name: string;
  readonly grants: readonly Grant[];
  readonly startsMs: number;
  readonly endsMs: number;
}

const never = (): boolean => false;

/** Returns the credential of a request: `Authorization: Bearer ID.SECRET`. */
export function credentialOf({ headers, socket }: IncomingMessage): Credential {
  const from = `${socket.remoteAddress}:${socket.remotePort}`;
  return { token: tokenOf(headers.authorization), isPeer: never, socket, from };
}

/** Returns the credential of a caller that shows this token, or nothing yet. */
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

/**
 * The token that this server shows to others, from a file: no list of processes has it. Null
 * without a file. Throws USAGE for one that holds no token, FILE_UNFIT.
 */
export async function readServerToken(file: string | undefined): Promise<string | null> {
  if (file === undefined) return null;
  const read = readPrivateFile(file, accessFileBytesMax).catch(unreadable('--token-file'));
  const text = String(await read).trim();
  const token = parseToken(text);
  if (token !== null) return tokenText(token);
  throw new CodedError('USAGE', `--token-file ${file} holds no token`, {
    hint: 'ring-builder access grant NAME --peer --out FILE writes one',
  });
}
