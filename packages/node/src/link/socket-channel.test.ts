// Limits of one connection to a server: more calls than the server can answer, and invalid ones.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { answeringBytesMax, misunderstoodCallsMax } from '@ringwright/base/limits-wire';
import type { CallHandler } from '@ringwright/wire/call-channel';
import { messageKind } from '@ringwright/wire/message';
import { expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import { socketChannel } from './socket-channel.ts';

const store = messageKind({
  method: 'store',
  request: z.strictObject({ value: z.instanceof(Uint8Array) }),
  answer: z.int(),
});
const valueBytes = 1_000_000;

async function connected(answer: CallHandler['answer']) {
  const handlers = new Map([[store.method, { request: store.request, answer }]]);
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
  });
  const accepted = once(server, 'connection') as Promise<[WebSocket]>;
  const socket = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const channel = socketChannel(socket, { peer: 'the server' }, { handlers: new Map() });
  const [there] = await accepted;
  let leave = (): void => undefined;
  socketChannel(there, { peer: 'the client' }, { handlers, onLeaver: (begin) => (leave = begin) });
  if (socket.readyState !== socket.OPEN) await once(socket, 'open');
  onTestFinished(() => socket.terminate());
  return { channel, socket, there, leave: () => leave() };
}

test('a connection over its budget is not read for a while, and stays open', async () => {
  const waiting: (() => void)[] = [];
  let begun = 0;
  const { channel, socket, there } = await connected((request) => {
    begun += 1;
    const { length } = (request as { readonly value: Uint8Array }).value;
    return new Promise((resolve) => waiting.push(() => resolve(length)));
  });
  const value = Buffer.alloc(valueBytes, 7);
  const answers: Promise<number>[] = [];
  const calls = Math.ceil((2 * answeringBytesMax) / valueBytes);
  while (answers.length < calls) {
    answers.push(channel.call(store, { value }, 60_000));
    // A Ringwright program has no more than this waiting to be sent.
    if (answers.length % 8 === 0 && !there.isPaused) {
      await vi.waitFor(() => expect(there.isPaused || socket.bufferedAmount === 0).toBe(true));
    }
    if (there.isPaused) break;
  }
  expect(there.isPaused, 'the socket is paused').toBe(true);
  expect(begun * valueBytes).toBeGreaterThan(answeringBytesMax - valueBytes);
  expect(begun * valueBytes).toBeLessThan(answeringBytesMax + 2 * valueBytes);
  answers.push(channel.call(store, { value }, 60_000));
  await vi.waitFor(() => {
    for (const answer of waiting.splice(0)) answer();
    expect(begun).toBe(answers.length);
  });
  expect(new Set(await Promise.all(answers))).toEqual(new Set([valueBytes]));
  expect([there.isPaused, socket.readyState]).toEqual([false, socket.OPEN]);
});

test('a peer disconnected for unknown calls learns why, and so do its waiting calls', async () => {
  const { channel, socket } = await connected(() => new Promise(() => undefined));
  const pending = channel.call(store, { value: Buffer.alloc(1) }, 60_000);
  const closed = once(socket, 'close') as Promise<[number, Buffer]>;
  const nonsense = messageKind({ ...store, method: 'nonsense' });
  for (let index = 0; index <= misunderstoodCallsMax; index += 1) {
    channel.call(nonsense, { value: Buffer.alloc(1) }, 60_000).catch(() => undefined);
  }
  const reason = `more than ${misunderstoodCallsMax} calls are unknown`;
  await expect(pending).rejects.toMatchObject({
    code: 'PEER_UNREACHABLE',
    message: expect.stringContaining(`1008 ${reason}`) as string,
  });
  const [code, said] = await closed;
  expect([code, said.toString()]).toEqual([1008, expect.stringContaining(reason)]);
});

test('text, and bytes that are not a frame, are refused with a reason', async () => {
  for (const [sent, reason] of [
    ['hello', 'not a binary message'],
    [Buffer.from('hello'), 'not a frame of calls and answers'],
  ] as const) {
    const { socket } = await connected(() => 1);
    socket.send(sent);
    const [code, said] = (await once(socket, 'close')) as [number, Buffer];
    expect([code, said.toString()]).toEqual([1007, reason]);
  }
});

test('an end that leaves answers calls in flight, and runs no later ones', async () => {
  const waiting: (() => void)[] = [];
  const { channel, socket, leave } = await connected(
    () => new Promise((resolve) => waiting.push(() => resolve(7))),
  );
  const value = Buffer.alloc(1);
  const early = channel.call(store, { value }, 60_000);
  await vi.waitFor(() => expect(waiting).toHaveLength(1));
  leave();
  const late = channel.call(store, { value }, 60_000);
  const refused = expect(late).rejects.toMatchObject({
    code: 'PEER_UNREACHABLE',
    outcome: 'not-done',
  });
  const closed = once(socket, 'close');
  waiting[0]?.();
  expect(await early).toBe(7);
  await refused;
  expect((await closed)[0]).toBe(4001);
  expect(waiting).toHaveLength(1);
});

test('if both ends close at once, the outcome of a call is unknown', async () => {
  const waiting: (() => void)[] = [];
  const { channel, socket, there } = await connected(
    () => new Promise((resolve) => waiting.push(() => resolve(7))),
  );
  const error = channel
    .call(store, { value: Buffer.alloc(1) }, 60_000)
    .catch((one: unknown) => one);
  await vi.waitFor(() => expect(waiting).toHaveLength(1));
  const closed = once(socket, 'close');
  const send = there.send.bind(there) as (...about: unknown[]) => void;
  const sent = new Promise<void>((resolve) => {
    there.send = (...about: unknown[]) => {
      send(...about);
      resolve();
    };
  });
  waiting[0]?.();
  await sent;
  // The answer is on its way to an end that accepts nothing any more.
  socket.close(1000);
  there.close(4001);
  expect((await closed)[0]).toBe(4001);
  expect(await error).toMatchObject({ code: 'PEER_UNREACHABLE' });
  expect(await error).not.toMatchObject({ outcome: 'not-done' });
});
