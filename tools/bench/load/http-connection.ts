// A persistent HTTP/1.1 connection for one request at a time. It is minimal, so that the server is
// measured and not the client.
import { once } from 'node:events';
import net from 'node:net';

interface HttpRequest {
  readonly method: string;
  /** Must need no encoding. */
  readonly path: string;
  readonly body?: Buffer;
}

export interface HttpAnswer {
  readonly status: number;
  readonly body: Buffer;
}

interface Waiting {
  readonly resolve: (answer: HttpAnswer) => void;
  readonly reject: (error: Error) => void;
}

const headEnd = '\r\n\r\n';

export class HttpConnection {
  readonly #socket: net.Socket;
  readonly #host: string;
  #received: Buffer = Buffer.alloc(0);
  #waiting: Waiting | null = null;

  private constructor(socket: net.Socket, host: string) {
    this.#socket = socket;
    this.#host = host;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => {
      this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
      this.#take();
    });
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error(`${host} closed the connection`)));
  }

  static async to(address: string): Promise<HttpConnection> {
    const [host, port] = address.split(':');
    const socket = net.connect(Number(port), host);
    await once(socket, 'connect');
    return new HttpConnection(socket, address);
  }

  /** Rejects when the connection breaks, and for an answer without a length. */
  ask({ method, path, body }: HttpRequest): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      const length = body === undefined ? '' : `\r\ncontent-length: ${body.length}`;
      const head = `${method} ${path} HTTP/1.1\r\nhost: ${this.#host}${length}${headEnd}`;
      if (body === undefined) this.#socket.write(head, 'latin1');
      else this.#socket.write(Buffer.concat([Buffer.from(head, 'latin1'), body]));
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(): void {
    const end = this.#received.indexOf(headEnd);
    if (end === -1) return;
    const head = this.#received.toString('latin1', 0, end);
    const status = Number(head.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length === undefined && status !== 204) {
      this.#fail(new Error(`an answer without content-length: ${head}`));
      return;
    }
    const bodyAt = end + headEnd.length;
    const bodyEnd = bodyAt + Number(length ?? 0);
    if (this.#received.length < bodyEnd) return;
    const body = this.#received.subarray(bodyAt, bodyEnd);
    this.#received = this.#received.subarray(bodyEnd);
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.resolve({ status, body });
  }

  #fail(error: Error): void {
    this.#waiting?.reject(error);
    this.#waiting = null;
  }
}
