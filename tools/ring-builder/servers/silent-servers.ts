// Servers that gave a command no answer: unreachable, or they refused. Pure.

import type { CodedError } from '@ringwright/base/coded-error';
import { type ErrorCode, isPeerCode } from '@ringwright/base/errors';
import type { Lines } from '../cli/command.ts';
import { needsToken } from './advice-rows.ts';

export interface SilentServer {
  readonly address: string;
  readonly reason: string;
  readonly code: ErrorCode;
}

export function silentServer(address: string, { code, message, hint }: CodedError): SilentServer {
  const isHung = code === 'PEER_UNREACHABLE' && hint !== '';
  return { address, code, reason: isHung ? `${message}; ${hint}` : message };
}

/** A server at the address of a device that does not count itself as a device of the ring. */
export function unnamedServer(address: string): SilentServer {
  const reason =
    'it answers as no device of the ring: it runs under another device name, or has an old ring';
  return { address, code: 'PEER_FAILED', reason };
}

/** Returns a line per server, and which token to show if any refused. */
export function silentLines(servers: readonly SilentServer[]): Lines {
  const isRefused = servers.some(({ code }) => needsToken.has(code));
  return [
    ...servers.map(({ address, reason, code }) => {
      // An error raised by this program names the server already. One sent by a server that accepts
      // no hello does not.
      const isNamed = code === 'WIRE_VERSION_UNKNOWN' && reason.startsWith(`${address} `);
      if (isNamed) return `not asked: ${reason}`;
      return isPeerCode(code)
        ? `not asked: ${address}, ${reason}`
        : `${address} refused: ${reason}`;
    }),
    isRefused &&
      'this needs a token with operator: --token-file FILE, or RING_BUILDER_TOKEN_FILE; ' +
        'ring-builder access list shows the tokens',
  ];
}

/** 0: all answered. 4: some were not reached. 5: some refused, and the others answered. */
export function silentExit(servers: readonly SilentServer[]): 0 | 4 | 5 {
  if (servers.some(({ code }) => isPeerCode(code))) return 4;
  return servers.length > 0 ? 5 : 0;
}
