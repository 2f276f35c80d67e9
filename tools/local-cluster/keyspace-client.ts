// A small client of one keyspace over HTTP. Any server answers: when one fails, the next is asked.
import http from 'node:http';
import https from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { must } from '@ringwright/base/assert';
import { failure } from './failure.ts';

const SOCKETS_PER_SERVER_MAX = 32;
/** A quorum of local servers answers in milliseconds; ten seconds means that it will not. */
const ATTEMPT_MS_MAX = 10_000;
const OPERATION_MS_MAX = 30_000;
/** A server that refused a connection is left alone for so long. */
const SHUN_MS = 1_000;
const ROUND_PAUSE_MS = 10;
const PUT_ENDS = [200, 201, 204];
const GET_ENDS = [200, 404];
/** Answers after which the same request may succeed elsewhere or later. */
const TRY_AGAIN = new Set([408, 409, 421, 425, 429, 500, 502, 503, 504]);

export interface Outcome {
  readonly status: number;
  readonly body: string;
  /** Attempts without an answer: whether they took effect is unknown. */
  readonly unanswered: number;
  /** Attempts that were refused. */
  readonly refused: number;
}

interface Call {
  readonly method: 'GET' | 'PUT' | 'POST';
  readonly path: string;
  readonly value: string | null;
}

/** As the server takes it in a batch; `value` of a put alone. */
interface Item {
  readonly op: 'get' | 'put';
  readonly key: string;
  readonly value?: string;
}

interface ItemAnswer {
  readonly status: number;
  /** Base64; of a get that found something. */
  readonly value64?: string;
}

/** Of servers that ask who is there, and prove who they are. */
export interface Secured {
  /** Certificates of the authority, PEM. */
  readonly ca: string;
  /** ID.SECRET. */
  readonly token: string;
}

const agentOptions = { keepAlive: true, maxSockets: SOCKETS_PER_SERVER_MAX };

export class KeyspaceClient {
  readonly #keyspace: string;
  readonly #agent: http.Agent;
  readonly #isSecured: boolean;
  #token: string | null;
  readonly #shunnedUntil = new Map<number, number>();
  #ports: readonly number[];
  #turn = 0;

  /** `secured`: over TLS, with a token; null: in plain. */
  constructor(keyspace: string, ports: readonly number[], secured: Secured | null = null) {
    this.#keyspace = keyspace;
    this.#ports = ports;
    this.#isSecured = secured !== null;
    this.#token = secured?.token ?? null;
    this.#agent =
      secured === null
        ? new http.Agent(agentOptions)
        : new https.Agent({ ...agentOptions, ca: secured.ca });
  }

  /** Requests that begin from now on show this token. */
  useToken(token: string): void {
    this.#token = token;
  }

  addServer(port: number): void {
    this.#ports = [...this.#ports, port];
  }

  /** Writes at quorum, again and again until acknowledged. Throws after 30 s, or when told that it is wrong. */
  put(key: string, value: string): Promise<Outcome> {
    return this.#until({ method: 'PUT', path: this.#pathOf(key), value }, PUT_ENDS);
  }

  /** Reads at quorum; status 404 says that there is no such record. */
  get(key: string): Promise<Outcome> {
    return this.#until({ method: 'GET', path: this.#pathOf(key), value: null }, GET_ENDS);
  }

  /** As `put` of each, in one request. */
  putAll(records: readonly { readonly key: string; readonly value: string }[]): Promise<Outcome[]> {
    const items = records.map(({ key, value }) => ({ op: 'put', key, value }) as const);
    return this.#inOne(items, PUT_ENDS, ({ key, value = '' }) => this.put(key, value));
  }

  /** As `get` of each, in one request. */
  getAll(keys: readonly string[]): Promise<Outcome[]> {
    const items = keys.map((key) => ({ op: 'get', key }) as const);
    return this.#inOne(items, GET_ENDS, ({ key }) => this.get(key));
  }

  close(): void {
    this.#agent.destroy();
  }

  #pathOf(key: string): string {
    return `/v1/${this.#keyspace}/${encodeURIComponent(key)}`;
  }

  /** What could not be done in the batch is asked for `alone`. */
  async #inOne(
    items: readonly Item[],
    ends: readonly number[],
    alone: (item: Item) => Promise<Outcome>,
  ): Promise<Outcome[]> {
    const path = `/v1/_batch/${this.#keyspace}`;
    const batch = await this.#until(
      { method: 'POST', path, value: JSON.stringify({ items }) },
      [200],
    );
    const { items: answers } = JSON.parse(batch.body) as { items: ItemAnswer[] };
    return Promise.all(
      items.map(async (item, index) => {
        const { status, value64 = '' } = must(answers[index], `no answer to item ${index}`);
        const { unanswered, refused } = batch;
        if (ends.includes(status)) {
          return { status, body: Buffer.from(value64, 'base64').toString(), unanswered, refused };
        }
        const again = await alone(item);
        return {
          ...again,
          unanswered: again.unanswered + unanswered,
          refused: again.refused + refused + 1,
        };
      }),
    );
  }

  async #until(call: Call, expected: readonly number[]): Promise<Outcome> {
    const deadline = performance.now() + OPERATION_MS_MAX;
    let [unanswered, refused, last] = [0, 0, ''];
    for (let attempt = 1; performance.now() < deadline; attempt += 1) {
      const port = this.#nextPort();
      try {
        const { status, body } = await this.#ask(port, call);
        if (expected.includes(status)) return { status, body, unanswered, refused };
        last = `${status} ${body.slice(0, 300)}`;
        if (!TRY_AGAIN.has(status)) break;
        refused += 1;
      } catch (error) {
        last = error instanceof Error ? error.message : String(error);
        if (isRefusal(error)) this.#shunnedUntil.set(port, performance.now() + SHUN_MS);
        else unanswered += 1;
      }
      if (attempt % this.#ports.length === 0) await delay(ROUND_PAUSE_MS);
    }
    throw failure(`${call.method} ${decodeURIComponent(call.path)} failed; last answer: ${last}`);
  }

  #nextPort(): number {
    const now = performance.now();
    for (let step = 0; step < this.#ports.length; step += 1) {
      this.#turn = (this.#turn + 1) % this.#ports.length;
      const port = this.#ports[this.#turn] ?? 0;
      if ((this.#shunnedUntil.get(port) ?? 0) < now) return port;
    }
    return this.#ports[this.#turn] ?? 0;
  }

  #ask(port: number, { method, path, value }: Call): Promise<{ status: number; body: string }> {
    return new Promise((resolve, reject) => {
      const headers = {
        ...(this.#token !== null && { authorization: `Bearer ${this.#token}` }),
        ...(value !== null && {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(value),
        }),
      };
      const options = { host: '127.0.0.1', port, method, path, headers, agent: this.#agent };
      const ask = this.#isSecured ? https.request : http.request;
      const request = ask({ ...options, timeout: ATTEMPT_MS_MAX }, (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          body += chunk;
        });
        response.once('end', () => resolve({ status: response.statusCode ?? 0, body }));
        response.once('error', reject);
      });
      request.once('timeout', () => request.destroy(new Error(`no answer from port ${port}`)));
      request.once('error', reject);
      request.end(value ?? undefined);
    });
  }
}

/** No connection was made: the request was certainly not executed. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
}
