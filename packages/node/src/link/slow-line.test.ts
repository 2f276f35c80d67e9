// Calls over a line that is slower than their timeouts: bytes that still move keep them.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { slowMessageBytesMin } from '@ringwright/base/limits-wire';
import { messageKind } from '@ringwright/wire/message';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import { heldLine } from '../../../../test/support/held-line.ts';
import { socketChannel } from './socket-channel.ts';

const echo = messageKind({
  method: 'echo',
  request: z.instanceof(Uint8Array),
  answer: z.instanceof(Uint8Array),
});
const grow = messageKind({ method: 'grow', request: z.int(), answer: z.instanceof(Uint8Array) });
const never = messageKind({ method: 'never', request: z.null(), answer: z.null() });
const hang = messageKind({
  method: 'hang',
  request: z.instanceof(Uint8Array),
  answer: z.null(),
});
const handlers = new Map(
  [
    { ...echo, answer: (bytes: unknown) => (bytes as Uint8Array).subarray(0, 1) },
    { ...grow, answer: (length: unknown) => Buffer.alloc(length as number, 7) },
    { ...never, answer: () => new Promise(() => undefined) },
    { ...hang, answer: () => new Promise(() => undefined) },
  ].map(({ method, ...handler }) => [method, handler]),
);
const value = Buffer.alloc(1_000_000, 7);
const timeoutMs = 50;

async function connected() {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
  });
  server.on('connection', (socket, { socket: stream }) => {
    socketChannel(socket, { peer: 'the client', stream }, { handlers });
  });
  const direct = (server.address() as AddressInfo).port;
  const line = await heldLine(direct);
  onTestFinished(() => line[Symbol.asyncDispose]());
  const [slow, fast] = await Promise.all([line.port, direct].map(open));
  return { line, slow: slow as Opened, fast: fast as Opened };
}

type Opened = Awaited<ReturnType<typeof open>>;

async function open(port: number) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`);
  onTestFinished(() => socket.terminate());
  const channel = socketChannel(socket, { peer: 'the server' }, { handlers: new Map() });
  await once(socket, 'open');
  return channel;
}

/** Resolves when a call that began now, and gets no bytes, has timed out. */
async function timeoutPassed(channel: Opened, ms = timeoutMs): Promise<void> {
  await expect(channel.call(never, null, ms)).rejects.toMatchObject({
    code: 'PEER_TIMEOUT',
  });
}

test('a long request outlives its timeout, and a short one before it does not', async () => {
  const { line, slow, fast } = await connected();
  line.requests.allow(value.length / 2);
  const short = slow.call(never, null, timeoutMs);
  const long = slow.call(echo, value, timeoutMs);
  await expect(short).rejects.toMatchObject({ code: 'PEER_TIMEOUT' });
  await timeoutPassed(fast);
  expect(line.requests.held).toBeGreaterThan(0);
  line.requests.allow(value.length);
  expect(await long).toEqual(value.subarray(0, 1));
});

test('a long request that has arrived has no more time than a short one', async () => {
  const { fast } = await connected();
  const message = `the server did not answer 'hang' within ${timeoutMs} ms`;
  await expect(fast.call(hang, value, timeoutMs)).rejects.toMatchObject({ message });
});

test('an answer that comes in parts is awaited to its end', async () => {
  const { line, slow, fast } = await connected();
  line.answers.allow(4 * slowMessageBytesMin);
  const enoughMs = 1_000; // for the first part
  const long = slow.call(grow, value.length, enoughMs);
  await timeoutPassed(fast, enoughMs);
  await timeoutPassed(fast, enoughMs);
  line.answers.allow(value.length);
  expect((await long).length).toBe(value.length);
});
