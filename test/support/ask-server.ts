// Sends one HTTP request to one server, with the path exactly as passed.
import http from 'node:http';
import https from 'node:https';
import type { ErrorDocument } from '@ringwright/base/coded-error';

const ANSWER_MS_MAX = 15_000;
const kept = new http.Agent({ keepAlive: true });
const keptSecure = new https.Agent({ keepAlive: true });

/**
 * For a secured server: the authority that its TLS certificate must have, and the token to present.
 */
export interface Shown {
  /** In PEM. */
  readonly ca: string;
  readonly token: string;
}

export interface Request {
  readonly method?: 'GET' | 'PUT' | 'DELETE' | 'HEAD' | 'POST';
  /** Starts with `/v1/` and is already percent-encoded. */
  readonly path: string;
  readonly body?: string | Uint8Array;
  readonly headers?: http.OutgoingHttpHeaders;
  /** Whether to keep the connection for the next request. */
  readonly keepAlive?: boolean;
  /** Null or absent: no token and no TLS. */
  readonly shown?: Shown | null;
}

export interface Response {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly bytes: Buffer;
}

/** Rejects if no complete response arrives. */
export function askServer(port: number, request: Request): Promise<Response> {
  const { method = 'GET', path, body, headers = {}, keepAlive = false, shown = null } = request;
  const agent = keepAlive && (shown === null ? kept : keptSecure);
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  const proof = shown === null ? {} : { authorization: `Bearer ${shown.token}` };
  const options = {
    ...{ host: '127.0.0.1', port, method, path, agent, timeout: ANSWER_MS_MAX },
    ...{ headers: { ...length, ...proof, ...headers }, ...(shown && { ca: shown.ca }) },
  };
  return new Promise((resolve, reject) => {
    const sent = (shown === null ? http : https).request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('end', () => {
        const bytes = Buffer.concat(chunks);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes });
      });
      response.once('error', reject);
    });
    sent.once('timeout', () => sent.destroy(new Error(`${method} ${path}: no answer in time`)));
    sent.once('error', reject);
    sent.end(body);
  });
}

/** Returns the error document of a refused request. */
export function refusalOf({ bytes }: Response): ErrorDocument {
  return JSON.parse(bytes.toString()) as ErrorDocument;
}
