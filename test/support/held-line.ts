// A proxy in front of a port. It holds back what goes beyond a number of bytes in each direction,
// as a slow line does, until more are allowed.
import { once } from 'node:events';
import net from 'node:net';

class Direction {
  #allowed = Number.POSITIVE_INFINITY;
  #held: Buffer[] = [];
  #to: net.Socket | null = null;
  /** Bytes that are held back. */
  get held(): number {
    return this.#held.reduce((sum, { length }) => sum + length, 0);
  }

  /** Lets so many more bytes pass, beginning with those held back. */
  allow(bytes: number): void {
    this.#allowed = bytes;
    for (const held of this.#held.splice(0)) this.take(held);
  }

  take(bytes: Buffer): void {
    const passed = bytes.subarray(0, this.#allowed);
    this.#allowed -= passed.length;
    if (passed.length > 0) this.#to?.write(passed);
    if (passed.length < bytes.length) this.#held.push(bytes.subarray(passed.length));
  }

  connect(from: net.Socket, to: net.Socket): void {
    this.#to = to;
    from.on('data', (bytes) => this.take(bytes));
    from.on('error', () => undefined);
    from.on('close', () => to.destroySoon());
  }
}

interface HeldLine extends AsyncDisposable {
  readonly port: number;
  /** Bytes to the server, and from it; all pass at first. Of one connection at a time. */
  readonly requests: Direction;
  readonly answers: Direction;
}

export async function heldLine(targetPort: number): Promise<HeldLine> {
  const [requests, answers] = [new Direction(), new Direction()];
  const sockets: net.Socket[] = [];
  const server = net.createServer((arriving) => {
    const leaving = net.connect(targetPort, '127.0.0.1');
    sockets.push(arriving, leaving);
    requests.connect(arriving, leaving);
    answers.connect(leaving, arriving);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  return {
    ...{ port, requests, answers },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
