// A proxy in front of a port that serves copies. It can cut, alter or delay the bytes.
import { once } from 'node:events';
import net from 'node:net';

/**
 * Decides what becomes of bytes on their way to the joiner. `at` is their offset in the connection.
 */
export type Pass = (bytes: Buffer, at: number) => Buffer | 'cut';

export interface CopyProxy extends AsyncDisposable {
  readonly port: number;
  /** Number of connections so far. */
  readonly connections: number;
  pass: Pass;
}

export async function copyProxy(target: () => number, host = '127.0.0.1'): Promise<CopyProxy> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((arriving) => {
    proxy.connections += 1;
    let at = 0;
    const leaving = net.connect(target(), '127.0.0.1');
    for (const socket of [arriving, leaving]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        arriving.destroySoon();
        leaving.destroySoon();
      });
    }
    arriving.pipe(leaving);
    leaving.on('data', (bytes) => {
      const passed = proxy.pass(bytes, at);
      at += bytes.length;
      if (passed !== 'cut') arriving.write(passed);
      else arriving.destroy();
    });
    leaving.once('end', () => arriving.end());
  });
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  const proxy = {
    port,
    connections: 0,
    pass: ((bytes) => bytes) as Pass,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}
