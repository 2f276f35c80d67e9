// A server that answers every request with a status, until the test ends.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { wireVersion } from '@ringwright/wire/wire-version';
import { onTestFinished } from 'vitest';

/** `said` replaces parts of the status of a server without a ring. `code`: of HTTP. */
export async function statusServer(
  said: () => object,
  code = 200,
): Promise<{ readonly port: number; readonly server: Server }> {
  const plain = { address: 'here', wireVersion, ready: true, rings: [], refusals: [] };
  const server = createServer((_, response) => {
    response.writeHead(code).end(JSON.stringify({ ...plain, ...said() }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { port: (server.address() as AddressInfo).port, server };
}
