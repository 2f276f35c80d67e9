// One HTTP request to one server, with the path sent as it is given.
import http from 'node:http';

const ANSWER_MS_MAX = 15_000;

export interface Request {
  readonly method?: 'GET' | 'PUT' | 'DELETE' | 'HEAD' | 'POST';
  /** From `/v1/` on, percent-encoded already. */
  readonly path: string;
  readonly body?: string | Uint8Array;
  readonly headers?: http.OutgoingHttpHeaders;
  readonly agent?: http.Agent;
}

export interface Response {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly bytes: Buffer;
}

/** Rejects when there is no whole answer. */
export function askServer(port: number, request: Request): Promise<Response> {
  const { method = 'GET', path, body, headers = {}, agent = false } = request;
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  const options = { host: '127.0.0.1', port, method, path, agent, timeout: ANSWER_MS_MAX };
  return new Promise((resolve, reject) => {
    const sent = http.request({ ...options, headers: { ...length, ...headers } }, (response) => {
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

/** The error document of a refusal. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export function refusalOf({ bytes }: Response): Refusal {
  return JSON.parse(bytes.toString()) as Refusal;
}
