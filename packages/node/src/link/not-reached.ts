// Explains why there is no connection to a server, for the caller.
import { CodedError } from '@ringwright/base/coded-error';
import { messageOf } from '@ringwright/base/thrown';

interface Cause extends Error {
  readonly code?: string;
}

/** The reader of the hints: a person who types commands, or who writes a program with connect(). */
export type HintReader = 'operator' | 'programmer';

const hints: Readonly<Record<HintReader, { readonly cut: string; readonly other: string }>> = {
  operator: {
    cut: 'use --ca FILE; or, for a ring in this folder, ring-builder set-device RING all --ask-key',
    other:
      'is the port right? ring-builder set-device RING dN --port PORT changes it; ' +
      'or stop the program that listens there, and start ring-server',
  },
  programmer: {
    cut: 'is it the port of --listen? For a server with --tls, pass its authority to connect() as ca',
    other: 'pass the addresses of ring-server --listen to connect(), IP:PORT',
  },
};

/** A server with --tls closes connections without TLS silently. */
export function notReached(
  address: string,
  cause: Cause,
  { isPlain, reader = 'operator' }: { readonly isPlain: boolean; readonly reader?: HintReader },
): CodedError {
  if (cause.code?.startsWith('HPE_')) {
    return otherProgram(address, { answer: 'not HTTP', reader, cause });
  }
  const isCut = isPlain && cause.code === 'ECONNRESET';
  const why = isCut
    ? 'it closed the connection, as a server with --tls or a Redis port does'
    : messageOf(cause);
  return new CodedError('PEER_UNREACHABLE', `${address} cannot be reached: ${why}`, {
    ...(isCut && { hint: hints[reader].cut }),
    cause,
  });
}

/**
 * The error for a response in place of the requested WebSocket. A ring-server that is full answers
 * 503.
 */
export function notUpgraded(address: string, status: number, reader?: HintReader): CodedError {
  if (status !== 503) return otherProgram(address, { answer: `HTTP ${status}`, reader });
  const message = `${address} accepts no more connections (HTTP 503)`;
  return new CodedError('PEER_UNREACHABLE', message, { details: { address, status } });
}

export function otherProgram(
  address: string,
  {
    answer,
    reader = 'operator',
    cause,
  }: {
    /** The answer that no ring-server gives, such as `HTTP 404`. */
    readonly answer: string;
    readonly reader?: HintReader | undefined;
    readonly cause?: Error;
  },
): CodedError {
  const message = `a program other than ring-server answers at ${address} (${answer})`;
  const hint = hints[reader].other;
  return new CodedError('PEER_FAILED', message, { hint, details: { address }, cause });
}
