// Why there is no connection to a server, in words for whoever wanted one.
import { CodedError } from '@ringwright/base/coded-error';

interface Cause extends Error {
  readonly code?: string;
}

/** A server with --tls ends connections without it, and says nothing. */
export function notReached(
  address: string,
  cause: Cause,
  { isPlain }: { readonly isPlain: boolean },
): CodedError {
  if (cause.code?.startsWith('HPE_')) return otherProgram(address, 'no HTTP', cause);
  const isCut = isPlain && cause.code === 'ECONNRESET';
  const why = isCut ? 'it hung up, as servers with --tls do without TLS' : cause.message;
  return new CodedError('PEER_UNREACHABLE', `${address} cannot be reached: ${why}`, {
    ...(isCut && {
      hint: 'give --ca FILE; or, for a ring that is here, ring-builder set-device RING all --ask-key',
    }),
    cause,
  });
}

/** In the place of the WebSocket that was asked for. A ring-server that is full says 503. */
export function notUpgraded(address: string, status: number): CodedError {
  if (status !== 503) return otherProgram(address, `HTTP ${status}`);
  const message = `${address} takes no more connections (HTTP 503)`;
  return new CodedError('PEER_UNREACHABLE', message, { details: { address, status } });
}

/** `answer`: what it gave that no ring-server gives, such as `HTTP 404`. */
export function otherProgram(address: string, answer: string, cause?: Error): CodedError {
  const message = `something else than a ring-server answers at ${address} (${answer})`;
  return new CodedError('PEER_FAILED', message, {
    hint:
      'is the port right? ring-builder set-device RING dN --port PORT changes it; ' +
      'or stop what listens there, and start the ring-server',
    details: { address },
    cause,
  });
}
