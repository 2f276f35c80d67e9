// Tests which callers may open a connection, how many may, and which are closed to make room.
import { once } from 'node:events';
import { createServer } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Caller } from '@ringwright/wire/call-channel';
import { joinFrame, packEnvelope } from '@ringwright/wire/frame';
import { expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { ByteBudget } from '../access/byte-budget.ts';
import { acceptWire } from './wire-endpoint.ts';

function open(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<WebSocket | string> {
  const socket = new WebSocket(url, { headers });
  return new Promise((resolve) => {
    socket.once('open', () => resolve(socket));
    socket.once('error', ({ message }) => resolve(message));
  });
}

test('other paths, web pages and connections beyond the limit are refused', async () => {
  const http = createServer();
  const close = acceptWire(http, { handlers: new Map() }, 2);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const url = `ws://127.0.0.1:${(http.address() as AddressInfo).port}/v1/wire`;
  try {
    expect(await open(`${url}/x`)).toMatch(/404/);
    expect(await open(url, { origin: 'http://evil.example' })).toMatch(/403/);
    const own = { host: 'evil.example', origin: 'http://evil.example' };
    expect(await open(url, { ...own, 'sec-fetch-site': 'same-origin' })).toMatch(/403/);
    expect(await open(url, { 'sec-fetch-site': 'none' })).toMatch(/403/);
    const [first, second] = [await open(url), await open(url)] as WebSocket[];
    expect(await open(url)).toMatch(/503/);
    const gone = new Promise((resolve) => first?.once('close', resolve));
    first?.close();
    await gone;
    expect(await open(url)).toBeInstanceOf(WebSocket);
    second?.terminate();
  } finally {
    await close();
    http.close();
  }
});

test('a refused client that keeps its side open is disconnected all the same', async () => {
  const http = createServer();
  const close = acceptWire(http, { handlers: new Map() });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const words = ['GET /v1/status HTTP/1.1', 'host: 127.0.0.1', 'connection: upgrade'];
  socket.write(`${words.join('\r\n')}\r\nupgrade: websocket\r\n\r\n`);
  expect(await text(socket)).toMatch(/^HTTP\/1.1 404/);
  const connections = (): Promise<number> =>
    new Promise((resolve) => http.getConnections((_, count) => resolve(count)));
  await vi.waitFor(async () => expect(await connections()).toBe(0), 3_000);
  socket.destroy();
  await close();
  http.close();
});

test('connections without permissions make room for others, the oldest first', async () => {
  const http = createServer();
  const callers: Caller[] = [];
  const onChannel = (caller: Caller): void => void callers.push(caller);
  const isPowerless = (caller: Caller): boolean => caller !== callers[0];
  const close = acceptWire(http, { handlers: new Map(), onChannel, isPowerless }, 3);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const url = `ws://127.0.0.1:${(http.address() as AddressInfo).port}/v1/wire`;
  try {
    const [granted, oldest] = [await open(url), await open(url), await open(url)] as WebSocket[];
    const gone = new Promise((resolve) => oldest?.once('close', resolve));
    expect(await open(url)).toBeInstanceOf(WebSocket);
    await gone;
    for (let at = 0; at < 5; at += 1) expect(await open(url)).toBeInstanceOf(WebSocket);
    expect(granted?.readyState).toBe(WebSocket.OPEN);
  } finally {
    await close();
    http.close();
  }
});

const KIB = 1024;

/** Returns a frame with a zero mask. Its message goes on: `opcode` lacks the FIN bit. */
function frame(opcode: number, bytes: number): Buffer {
  const header = Buffer.alloc(14);
  header[0] = opcode;
  header[1] = 0xff;
  header.writeBigUInt64BE(BigInt(bytes), 2);
  return Buffer.concat([header, Buffer.alloc(bytes)]);
}
const pong = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);

test('incomplete messages share a limit: beyond it the oldest connection ends', async () => {
  const http = createServer();
  const begun = new ByteBudget(1_000 * KIB);
  let [isKnown, channels] = [false, 0];
  const onChannel = (): void => void (channels += 1);
  const ports = { handlers: new Map(), incompleteBudget: begun, isKnown: () => isKnown, onChannel };
  const close = acceptWire(http, ports);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    await close();
    http.close();
  });
  const { port } = http.address() as AddressInfo;
  const begin = async (...pieces: Buffer[]): Promise<net.Socket> => {
    const socket = net.connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => undefined);
    socket.write(
      'GET /v1/wire HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
        `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${'A'.repeat(22)}==\r\n\r\n`,
    );
    await once(socket, 'data');
    for (const piece of pieces) socket.write(piece);
    return socket;
  };
  const half = frame(2, 600 * KIB);
  const first = await begin(half);
  await expect.poll(() => begun.bytes).toBeGreaterThanOrEqual(half.length);
  // Pongs show that the client is alive. They do not make its connection newer.
  first.write(Buffer.concat(Array<Buffer>(10_000).fill(pong)));
  const gone = once(first, 'close');
  const second = await begin(half);
  await gone;
  await expect.poll(() => begun.bytes).toBeGreaterThanOrEqual(half.length);
  expect(begun.bytes).toBeLessThan(700 * KIB);
  isKnown = true;
  const member = await begin(half, pong);
  isKnown = false;
  const client = (await open(`ws://127.0.0.1:${port}/v1/wire`)) as WebSocket;
  const call = packEnvelope([0, 1, 'no such message', Buffer.alloc(300 * KIB)]);
  for (let at = 0; at < 20; at += 1) {
    client.send(joinFrame([call]));
    await once(client, 'message');
  }
  client.terminate();
  expect([second.destroyed, member.destroyed, channels]).toEqual([false, false, 4]);
  second.destroy();
  await expect.poll(() => begun.bytes).toBe(0);
  // A fragmented message ends its connection at once.
  const parts = await begin(frame(2, 1), frame(0, 1));
  await once(parts, 'close');
});
