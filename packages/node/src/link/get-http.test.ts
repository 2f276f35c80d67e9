// Tests a GET over HTTP, also to a server that answers without end, or not at all.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { getHttp } from './get-http.ts';

test('an answer is returned whole, or refused once it exceeds the limit', async () => {
  const server = createServer(({ url }, response) => {
    if (url !== '/endless') return void response.end('x'.repeat(1_000));
    const more = (): void => void response.write('x'.repeat(1_000), more);
    more();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const asking = { proof: null, timeoutMs: 10_000, bytesMax: 1_000 };
  expect(await getHttp(address, '/', asking)).toEqual({ status: 200, body: 'x'.repeat(1_000) });
  await expect(getHttp(address, '/endless', asking)).rejects.toMatchObject({
    code: 'PEER_UNREACHABLE',
    message: `${address} cannot be reached: it answers more than 1000 bytes`,
  });
});

test('a server that does not answer is named with the time that it had', async () => {
  const server = createServer(() => undefined);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  await expect(getHttp(address, '/', { proof: null, timeoutMs: 20 })).rejects.toMatchObject({
    code: 'PEER_UNREACHABLE',
    message: `${address} did not answer within 20 ms`,
  });
});

test('a server that changes to another protocol is another program', async () => {
  const server = createServer().on('upgrade', (_, socket) => socket.destroy());
  server.on('connection', (socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  await expect(getHttp(address, '/', { proof: null, timeoutMs: 10_000 })).rejects.toMatchObject({
    code: 'PEER_FAILED',
    details: { address },
  });
});

test.each(['例え.invalid', 'bücher.invalid'])('%s is a name like others', async (name) => {
  const address = `${name}:6200`;
  await expect(getHttp(address, '/', { proof: null, timeoutMs: 10_000 })).rejects.toMatchObject({
    code: 'PEER_UNREACHABLE',
  });
});
