// A server on a real socket that answers hello, and otherwise what a test wants, until the test
// ends.
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { acceptWire } from '@ringwright/server/http/wire-endpoint';
import type { CallHandler } from '@ringwright/wire/call-channel';
import { hello } from '@ringwright/wire/hello';
import { wireVersion } from '@ringwright/wire/wire-version';
import { onTestFinished } from 'vitest';

const introduction = { address: '', life: null, settled: true, remembered: null, rings: [] };

/** Answers hello for a server without rings. */
export const greeting: CallHandler = {
  request: hello.request,
  answer: () => ({ ...introduction, wireVersion, ms: Date.now(), access: null }),
};

/** `status`: the answer to every request over HTTP, if it is asked for one. */
export async function fakeServer(
  says: readonly (readonly [method: string, CallHandler])[],
  status: () => object = () => ({}),
) {
  const handlers = new Map([[hello.method, greeting], ...says]);
  const seen = { connections: 0, port: 0, break: (): void => undefined };
  const server = http.createServer((_, response) => void response.end(JSON.stringify(status())));
  const end = acceptWire(server, {
    handlers,
    onChannel: (_channel, { socket }) => {
      seen.connections += 1;
      seen.break = () => void socket.destroy();
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    await end();
    server.close();
  });
  seen.port = (server.address() as AddressInfo).port;
  return seen;
}
