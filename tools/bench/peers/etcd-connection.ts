// etcd's own protocol: calls of its KV interface as gRPC over one HTTP/2 connection. The two
// messages are encoded by hand, which needs no package and less work in the client.
import { once } from 'node:events';
import http2 from 'node:http2';

const headers = { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' } as const;
/** A flag for compression, and the length. */
const prefixBytes = 5;

export class EtcdConnection {
  readonly #session: http2.ClientHttp2Session;

  private constructor(session: http2.ClientHttp2Session) {
    this.#session = session;
    session.on('error', () => undefined); // the calls in flight report it
  }

  static async to(address: string): Promise<EtcdConnection> {
    const session = http2.connect(`http://${address}`);
    await once(session, 'connect');
    return new EtcdConnection(session);
  }

  async put(key: string, value: Buffer): Promise<void> {
    const request = Buffer.concat([...field(1, Buffer.from(key)), ...field(2, value)]);
    await this.#call('/etcdserverpb.KV/Put', request);
  }

  /** A linearizable read, etcd's default. Returns the length of the value, or null without one. */
  async get(key: string): Promise<number | null> {
    const request = Buffer.concat(field(1, Buffer.from(key)));
    const answer = await this.#call('/etcdserverpb.KV/Range', request);
    const record = findField(answer, 2);
    if (record === null) return null;
    return findField(record, 5)?.length ?? 0;
  }

  close(): void {
    this.#session.destroy();
  }

  #call(path: string, message: Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const stream = this.#session.request({ ...headers, ':path': path });
      const chunks: Buffer[] = [];
      let status = 'no status';
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('trailers', (trailers) => {
        status = String(trailers['grpc-status']);
      });
      stream.on('error', reject);
      stream.on('close', () => {
        if (status !== '0') reject(new Error(`${path}: grpc-status ${status}`));
        else resolve(Buffer.concat(chunks).subarray(prefixBytes));
      });
      const prefix = Buffer.alloc(prefixBytes);
      prefix.writeUInt32BE(message.length, 1);
      stream.end(Buffer.concat([prefix, message]));
    });
  }
}

/** Encodes a length-delimited field of a protocol buffer, in pieces. */
function field(number: number, bytes: Buffer): Buffer[] {
  const head = [(number << 3) | 2];
  let length = bytes.length;
  for (; length > 127; length >>>= 7) head.push((length & 127) | 128);
  return [Buffer.from([...head, length]), bytes];
}

/** Returns the first length-delimited field with this number; null when there is none. */
function findField(message: Buffer, number: number): Buffer | null {
  let offset = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = message[offset++] ?? 0;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  while (offset < message.length) {
    const tag = varint();
    const size = varint();
    if ((tag & 7) !== 2) continue; // a number: it has been read
    if (tag >>> 3 === number) return message.subarray(offset, offset + size);
    offset += size;
  }
  return null;
}
