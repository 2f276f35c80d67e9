// Tests that a client may send requests without waiting for answers, but not without limit, and
// that answers do not pile up for a client that does not read them.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { MIB } from '@ringwright/base/limits';
import { httpWaitingRequestBytes } from '@ringwright/base/limits-listeners';
import { expect, onTestFinished, test } from 'vitest';
import { statusesOf } from '../../../../test/support/http-on-map.ts';
import { ByteBudget } from '../access/byte-budget.ts';
import type { Exchange } from './http-answer.ts';
import { readBody } from './http-body.ts';
import { inOrder } from './in-order.ts';

const requests = Array.from({ length: 5_000 }, (_, at) => {
  const body = at % 3 === 0 ? 'x'.repeat(at % 50) : '';
  return `PUT /${at} HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
});

/** A server that answers nothing until `open` is called. */
async function closedServer(bytesMax: number) {
  const gate = Promise.withResolvers<void>();
  const budget = new ByteBudget(bytesMax);
  const answered: string[] = [];
  const server = createServer(
    inOrder(
      async ({ request, response }) => {
        await gate.promise;
        await readBody(request).catch(() => undefined); // of a connection that was closed
        answered.push(request.url ?? '');
        response.end();
      },
      { waiting: budget, unread: new ByteBudget(64 * MIB) },
    ),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const client = (sent: readonly string[]): Socket => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => undefined).write(sent.join(''));
    return socket;
  };
  return { client, budget, answered, open: () => gate.resolve() };
}

test('requests that wait are counted, and answered in order', async () => {
  const { client, budget, answered, open } = await closedServer(64 * MIB);
  const socket = client(requests);
  const waitingBytes = (requests.length - 1) * httpWaitingRequestBytes;
  await expect.poll(() => budget.bytes, { timeout: 20_000 }).toBe(waitingBytes);
  let answers = '';
  socket.on('data', (bytes) => {
    answers += String(bytes);
  });
  open();
  const inTime = { timeout: 20_000 };
  await expect.poll(() => statusesOf(answers).length, inTime).toBe(requests.length);
  expect(answered).toEqual(requests.map((_, at) => `/${at}`));
  expect(budget.bytes).toBe(0);
});

test('if requests of all connections take too much memory, the slowest is closed', async () => {
  const { client, budget, open } = await closedServer(MIB);
  const first = client(requests.slice(0, 100));
  await expect.poll(() => budget.bytes).toBe(99 * httpWaitingRequestBytes);
  const second = client(requests);
  await once(first.resume(), 'close');
  await once(second.resume(), 'close');
  await expect.poll(() => budget.bytes).toBe(0);
  let answers = '';
  client(requests.slice(0, 10)).on('data', (bytes) => {
    answers += String(bytes);
  });
  await expect.poll(() => budget.bytes).toBe(9 * httpWaitingRequestBytes);
  open();
  await expect.poll(() => statusesOf(answers)).toHaveLength(10);
  await expect.poll(() => budget.bytes).toBe(0);
});

const answerBytes = 4 * MIB;

/** A server whose answers fill the buffers of the system; it counts the answers that it began. */
async function longAnswers(unread: ByteBudget) {
  const begun: string[] = [];
  const answer = async ({ request, response }: Exchange): Promise<void> => {
    begun.push(request.url ?? '');
    response.end(Buffer.alloc(answerBytes));
  };
  const server = createServer(inOrder(answer, { waiting: new ByteBudget(64 * MIB), unread }));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const client = (): Socket => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => undefined).write(requests.slice(0, 30).join(''));
    return socket;
  };
  return { client, begun };
}

test('a client that reads nothing gets no further answer prepared', async () => {
  const unread = new ByteBudget(64 * MIB);
  const { client, begun } = await longAnswers(unread);
  const socket = client();
  await expect.poll(() => unread.bytes).toBeGreaterThan(0);
  expect(unread.bytes).toBeLessThanOrEqual(answerBytes + 1_024);
  expect(begun.length).toBeLessThan(10);
  let bytes = 0;
  socket.resume().on('data', (data: Buffer) => {
    bytes += data.length;
  });
  await expect.poll(() => bytes, { timeout: 20_000 }).toBeGreaterThan(30 * answerBytes);
  expect(begun).toHaveLength(30);
  await expect.poll(() => unread.bytes).toBe(0);
});

test('if unread answers take too much memory, the slowest connection is closed', async () => {
  const unread = new ByteBudget(1.5 * answerBytes);
  const { client, begun } = await longAnswers(unread);
  const first = client();
  await expect.poll(() => unread.bytes).toBeGreaterThan(0);
  const begunByFirst = begun.length;
  client();
  await expect.poll(() => first.resume().closed, { timeout: 20_000 }).toBe(true);
  expect(begun.length).toBeLessThan(begunByFirst + 10);
  expect(unread.bytes).toBeLessThanOrEqual(1.5 * answerBytes);
});
