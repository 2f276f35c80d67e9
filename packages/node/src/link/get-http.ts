// A single GET over HTTP, with TLS if the server has to prove its identity.
import { CodedError } from '@ringwright/base/coded-error';
import { httpAnswerBytesMax } from '@ringwright/base/limits';
import { splitAddress } from '@ringwright/base/server-address';
import { bearer } from './bearer.ts';
import { lookUp } from './look-up.ts';
import { notReached, otherProgram } from './not-reached.ts';
import { proveServer, type ServerProof, type TlsIdentity } from './prove-server.ts';
import { socketUrl } from './socket-url.ts';

// An import would evaluate all its exports, and load what programs that only send requests do not
// need.
const { request } = process.getBuiltinModule('node:http');

export interface HttpResponse {
  readonly status: number;
  readonly body: string;
}

interface Asking {
  readonly proof: ServerProof | null;
  /** Token shown to the server; null or absent: none. */
  readonly token?: string | null;
  /** Identity shown to a server that must prove its own; null or absent: none. */
  readonly identity?: TlsIdentity | null;
  /** Total time. */
  readonly timeoutMs: number;
  /** Limit of the answer; default: httpAnswerBytesMax. */
  readonly bytesMax?: number;
}

/**
 * Throws PEER_UNREACHABLE, PEER_FAILED for an answer that is not HTTP, and PEER_UNPROVEN before
 * anything is requested.
 */
export async function getHttp(
  address: string,
  path: string,
  { proof, timeoutMs, token = null, identity = null, bytesMax = httpAnswerBytesMax }: Asking,
): Promise<HttpResponse> {
  // A header takes only ASCII: a URL has other letters of a name in punycode.
  const { host } = new URL(socketUrl(address));
  const signal = AbortSignal.timeout(timeoutMs);
  const proven = proof === null ? null : await proveServer(address, { proof, identity, timeoutMs });
  const { ip, port } = splitAddress(address);
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      const late = `${address} did not answer within ${timeoutMs} ms`; // it may be busy
      reject(
        signal.aborted
          ? new CodedError('PEER_UNREACHABLE', late, { cause: error })
          : notReached(address, error, { isPlain: proven === null }),
      );
    };
    const sent = request({
      ...{ host: ip, port, lookup: lookUp, path, signal },
      headers: { host, connection: 'close', ...bearer(token) },
      ...(proven !== null && { createConnection: () => proven.socket }),
    });
    sent.once('error', fail);
    // Without a listener, Node closes such a connection and reports nothing.
    sent.once('upgrade', ({ statusCode = 0 }, socket) => {
      reject(otherProgram(address, { answer: `HTTP ${statusCode}` }));
      socket.destroy();
    });
    sent.once('response', (answer) => {
      const parts: Buffer[] = [];
      let bytes = 0;
      answer.on('data', (part: Buffer) => {
        parts.push(part);
        bytes += part.length;
        if (bytes > bytesMax) sent.destroy(new Error(`it answers more than ${bytesMax} bytes`));
      });
      answer.once('error', fail);
      answer.once('end', () => {
        resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(parts).toString() });
      });
    });
    sent.end();
  });
}
