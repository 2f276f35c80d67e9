// Calls to one server: it is greeted first, retried with back-off if it is unreachable, and
// connected again after its connection breaks.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { peerRetryMsMin } from '@ringwright/base/limits';
import type { CallHandler } from '@ringwright/wire/call-channel';
import { messageKind } from '@ringwright/wire/message';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { z } from 'zod';
import { freePorts } from '../free-ports.ts';
import { Link, type LinkPorts } from './link.ts';
import { socketChannel } from './socket-channel.ts';
import { socketUrl } from './socket-url.ts';

const double = messageKind({ method: 'double', request: z.int(), answer: z.int() });

function linkTo(port: number, ports: Partial<LinkPorts> = {}): Link {
  const link = new Link(`127.0.0.1:${port}`, {
    handlers: new Map(),
    monotonicMs: () => performance.now(),
    connectTimeoutMs: 10_000,
    greet: () => Promise.resolve(),
    ...ports,
  });
  onTestFinished(() => link.close());
  return link;
}

async function serverThat(answer: CallHandler['answer']): Promise<WebSocketServer> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  const handlers = new Map([[double.method, { request: double.request, answer }]]);
  server.on(
    'connection',
    (socket) => void socketChannel(socket, { peer: 'the client' }, { handlers }),
  );
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
  return server;
}

const portOf = (server: WebSocketServer): number => (server.address() as AddressInfo).port;

test('retries wait for a pause that doubles, whatever the clock of the machine says', async () => {
  const [port = 0] = await freePorts(1);
  let monotonicMs = 1_000;
  const link = linkTo(port, { monotonicMs: () => monotonicMs });
  const attempt = () => link.connect().then(String, (error: unknown) => String(error));
  const machineClock = Date.now;
  try {
    expect(link.pausedMs).toBe(0);
    for (const pauseMs of [peerRetryMsMin, 2 * peerRetryMsMin]) {
      expect(await attempt()).toContain('ECONNREFUSED');
      expect(link.pausedMs).toBe(pauseMs);
      Date.now = () => machineClock() - 3_600_000; // somebody sets the machine's clock
      expect(await attempt()).not.toContain('ECONNREFUSED');
      monotonicMs += pauseMs - 1;
      expect(await attempt()).not.toContain('ECONNREFUSED');
      monotonicMs += 1;
    }
    expect(await attempt()).toContain('ECONNREFUSED');
    expect(await attempt()).not.toContain('ECONNREFUSED');
    link.endPause();
    expect(await attempt(), 'endPause() permits an attempt').toContain('ECONNREFUSED');
    expect(link.pausedMs, 'endPause() does not shorten the next pause').toBe(8 * peerRetryMsMin);
  } finally {
    Date.now = machineClock;
  }
});

test('no call is sent before the greeting ends, and calls made meanwhile share it', async () => {
  const heard: unknown[] = [];
  const server = await serverThat((request) => {
    heard.push(request);
    return Number(request) * 2;
  });
  let connects = 0;
  const link = linkTo(portOf(server), {
    greet: async (_, caller) => {
      expect(link.connected).toBe(false);
      expect(await caller.call(double, 1, 10_000)).toBe(2);
    },
    onConnect: () => {
      connects += 1;
    },
  });
  const answers = await Promise.all([2, 3].map((number) => link.call(double, number, 10_000)));
  expect([answers, heard, connects]).toEqual([[4, 6], [1, 2, 3], 1]);
  expect(link.connected).toBe(true);
});

test('a greeting that fails ends the connection, and callers get its error', async () => {
  const server = await serverThat(() => 0);
  const greet = (): Promise<void> => Promise.reject(new Error('another wire version'));
  const link = linkTo(portOf(server), { greet });
  await expect(link.call(double, 1, 10_000)).rejects.toThrow('another wire version');
  expect(link.connected).toBe(false);
  await expect.poll(() => server.clients.size).toBe(0);
});

test('a server that sends much without opening the connection holds no caller', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    const more = (): void => void socket.write('HTTP/1.1 100 Continue\r\n\r\n', next);
    const next = (error?: Error | null): void => void (error || setImmediate(more));
    socket.once('data', more);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  await expect(linkTo(port, { connectTimeoutMs: 100 }).connect()).rejects.toMatchObject({
    code: 'PEER_UNREACHABLE',
    message: `127.0.0.1:${port} did not answer within 100 ms`,
  });
});

test('a broken connection rejects waiting calls, says why, and is opened again', async () => {
  let answers = false;
  const server = await serverThat((request) => {
    if (answers) return Number(request) * 2;
    for (const socket of server.clients) socket.close(1008, 'no longer welcome');
    return new Promise(() => undefined);
  });
  const link = linkTo(portOf(server));
  await expect(link.call(double, 1, 10_000)).rejects.toMatchObject({
    code: 'PEER_UNREACHABLE',
    message: expect.stringContaining('1008 no longer welcome') as string,
  });
  answers = true;
  await expect.poll(() => link.call(double, 4, 10_000).catch(() => null)).toBe(8);
});

test.each([
  ['PEER_FAILED', 'HTTP/1.1 404 Not Found', /^a program other than ring-server .* \(HTTP 404\)$/],
  ['PEER_FAILED', 'HTTP/1.1 200 OK', /^a program other than ring-server .* \(HTTP 200\)$/],
  ['PEER_FAILED', 'SSH-2.0-OpenSSH', /^a program other than ring-server .* \(not HTTP\)$/],
  ['PEER_UNREACHABLE', 'HTTP/1.1 503 Busy', /accepts no more connections \(HTTP 503\)$/],
])('%s if the other end answers %s', async (code, line, message) => {
  const server = createServer((socket) => void socket.end(`${line}\r\ncontent-length: 0\r\n\r\n`));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const link = linkTo((server.address() as AddressInfo).port);
  await expect(link.connect()).rejects.toMatchObject({
    ...{ code, message: expect.stringMatching(message) as string },
  });
  await expect.poll(() => link.pausedMs).toBeGreaterThan(0);
});

test('a closed link rejects calls, even those in flight', async () => {
  const server = await serverThat(() => new Promise(() => undefined));
  const link = linkTo(portOf(server));
  await link.connect();
  const pending = link.call(double, 1, 10_000);
  pending.catch(() => undefined);
  link.close();
  await expect(pending).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
  await expect(link.connect()).rejects.toMatchObject({ code: 'PEER_UNREACHABLE' });
});

test.each(['10.0.0.1:6200', '[fd00::1]:6200', 'bücher.example.:6200', 'a_b:1'])(
  'the wire URL of %s contains the address',
  (address) => {
    expect(socketUrl(address)).toBe(`ws://${address}/v1/wire`);
  },
);

test.each(['[fe80::1%eth0]:6200', '123.٣:6200', 'a b:1'])('%s cannot be reached', (address) => {
  expect(() => socketUrl(address)).toThrow(expect.objectContaining({ code: 'PEER_UNREACHABLE' }));
});
