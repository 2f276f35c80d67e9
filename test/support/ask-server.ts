// One HTTP request to one server, with the path sent as it is given.
import http from 'node:http';
import https from 'node:https';
import type { ErrorDocument } from '@ringwright/base/coded-error';

const ANSWER_MS_MAX = 15_000;
const kept = new http.Agent({ keepAlive: true });
const keptSecure = new https.Agent({ keepAlive: true });

/** What is asked of a server that is secured: TLS by this authority, and what is shown. */
export interface Shown {
  /** PEM. */
  readonly ca: string;
  readonly token: string;
}

export interface Request {
  readonly method?: 'GET' | 'PUT' | 'DELETE' | 'HEAD' | 'POST';
  /** From `/v1/` on, percent-encoded already. */
  readonly path: string;
  readonly body?: string | Uint8Array;
  readonly headers?: http.OutgoingHttpHeaders;
  /** Over a connection that is kept for the next request. */
  readonly keepAlive?: boolean;
  /** Null or absent: nothing, without TLS. */
  readonly shown?: Shown | null;
}

export interface Response {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly bytes: Buffer;
}

/** Rejects when there is no whole answer. */
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

/** What was refused. */
export function refusalOf({ bytes }: Response): ErrorDocument {
  return JSON.parse(bytes.toString()) as ErrorDocument;
}
