// Connections without a whole request in time are closed; after a request a connection may be idle.
// No connection outlives the endpoint.
// Commands after a refused MULTI are not executed.
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import net, { type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { redisFirstRequestMsMax, redisProbeMs } from '@ringwright/base/limits-listeners';
import { deviceIdentity } from '@ringwright/node/link/device-certificate';
import { securePort } from '@ringwright/node/link/secure-port';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createRedis } from './redis-endpoint.ts';

type Ports = Parameters<typeof createRedis>[0];

interface Listening extends ReturnType<typeof createRedis> {
  readonly port: number;
  /** Resolves when a change of a key has begun. */
  readonly begun: Promise<void>;
  /** Ends such a change: the key holds 1. */
  readonly finish: () => void;
}

/** Starts an endpoint without a ring: PING needs none, and INCR ends only with `finish`. */
async function listening(
  connectionsMax?: number,
  secure: (server: net.Server) => void = () => undefined,
): Promise<Listening> {
  const gauge = { set: () => undefined, inc: () => undefined, observe: () => undefined };
  const metrics = {
    redisConnections: gauge,
    redisProtocolErrors: gauge,
    redisSeconds: { labels: () => gauge },
  };
  const guard = { decide: () => null, require: () => undefined, isOpen: true };
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<unknown>();
  const finish = (): void => {
    ended.resolve({ record: { value: Buffer.from('1'), ms: 1, tie: 0 }, isChanged: true });
  };
  const run = (): Promise<unknown> => {
    begun.resolve();
    return ended.promise;
  };
  const coordinator = { rings: { list: () => [] }, clock: { nowMs: () => 0 }, mutex: { run } };
  const onBug = (error: unknown): never => {
    throw error;
  };
  const ports = { guard, coordinator, metrics, uptimeMs: () => 0, onBug } as unknown as Ports;
  const settings = { device: 'sd1', port: 0, keyspace: 'test', consistency: 'quorum' } as const;
  const endpoint = createRedis(ports, settings, connectionsMax);
  secure(endpoint.server);
  endpoint.server.listen(0, '127.0.0.1');
  await once(endpoint.server, 'listening');
  onTestFinished(() => endpoint.close());
  const { port } = endpoint.server.address() as AddressInfo;
  return { ...endpoint, port, begun: begun.promise, finish };
}

async function saying(port: number, words: string): Promise<Socket> {
  const socket = net.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(words);
  return socket;
}

test('only connections without a whole request in time are closed', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { port } = await listening();
  const asked = await saying(port, 'PING\r\n');
  const [reply] = (await once(asked, 'data')) as [Buffer];
  expect(reply.toString()).toMatch(/^[+-]/);
  const late = [await saying(port, ''), await saying(port, '*1\r\n$4\r\nPI')];
  const ends = late.map((socket) => once(socket, 'close'));
  // It is answered after them, so the server has received all of them.
  const last = await saying(port, 'PING\r\n');
  await once(last, 'data');
  vi.advanceTimersByTime(redisFirstRequestMsMax);
  await Promise.all(ends);
  asked.write('PING\r\n');
  await once(asked, 'data');
  for (const socket of [asked, last]) socket.destroy();
});

test('the kernel probes an idle connection, so that one whose client vanished ends', async () => {
  const { port } = await listening();
  const idle = await saying(port, 'PING\r\n');
  await once(idle, 'data');
  // Each line has the local and the remote address, the state, the queues, and the timer: its kind,
  // which is 02 for keep-alive, and when it ends, in hundredths of a second.
  const hex = (value: number): string => value.toString(16).toUpperCase().padStart(4, '0');
  const [there, here] = [`0100007F:${hex(port)}`, `0100007F:${hex(idle.localPort ?? 0)}`];
  const line = new RegExp(`${there} ${here} 01 \\S+ 02:(\\w+)`);
  // Another timer runs until the client has acknowledged the answer.
  await vi.waitFor(async () => {
    const timer = line.exec(await readFile('/proc/net/tcp', 'utf8'));
    expect(parseInt(timer?.[1] ?? '', 16)).toBeLessThanOrEqual(redisProbeMs / 10);
  });
  idle.destroy();
});

test('another connection is answered while a long pipeline is being answered', async () => {
  const { port } = await listening();
  const count = 20_000;
  const long = await saying(port, 'PING\r\n'.repeat(count));
  const replies = text(long);
  await once(long, 'data');
  const other = await saying(port, 'PING\r\n');
  await once(other, 'data');
  const answered = long.bytesRead;
  long.end();
  expect((await replies).match(/^[+-]/gm)).toHaveLength(count);
  expect(answered, 'the other connection was answered before the end').toBeLessThan(long.bytesRead);
  other.destroy();
});

test.each([
  ['EXEC', '-EXECABORT Transaction discarded because of previous errors.'],
  ['DISCARD', '+OK'],
])('MULTI is refused, and nothing is executed up to %s', async (end, answer) => {
  const socket = await saying((await listening()).port, '');
  const sent = ['MULTI', 'PING', 'SELECT 0', 'NOPE', 'SET a 1', 'MULTI', end, 'PING', end, 'QUIT'];
  socket.write(sent.map((line) => `${line}\r\n`).join(''));
  const replies = (await text(socket)).split('\r\n');
  const refused = expect.stringMatching(/^-ERR transactions are not supported/);
  const notDone = expect.stringMatching(/^-ERR not executed: MULTI was refused/);
  expect(replies).toEqual([
    ...[refused, notDone, notDone, expect.stringMatching('unknown command'), notDone, refused],
    ...[answer, '+PONG', `-ERR ${end} without MULTI`, '+OK', ''],
  ]);
});

test('a client beyond the connection limit gets an error and its socket is closed', async () => {
  const { port, server, begun } = await listening(1);
  const busy = await saying(port, 'INCR a\r\n');
  await begun;
  const accepted: Socket[] = [];
  server.on('connection', (socket: Socket) => void accepted.push(socket));
  const closes = await saying(port, 'PING\r\n');
  expect(await text(closes)).toBe('-ERR max number of clients reached\r\n');
  const stays = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  stays.write('PING\r\n');
  expect(await text(stays)).toMatch(/^-ERR max/);
  const resets = await saying(port, 'PING\r\n');
  resets.resetAndDestroy();
  await vi.waitFor(() => expect(accepted).toHaveLength(3));
  await vi.waitFor(() => expect(accepted.every(({ destroyed }) => destroyed)).toBe(true), 3_000);
  for (const socket of [busy, stays]) socket.destroy();
});

test('a connection whose TLS handshake ends after the endpoint was closed is closed', async () => {
  const device = deviceIdentity(generateKeyPairSync('ed25519').privateKey);
  const tls = { device, identity: device, servesPlain: false, onRefused: () => undefined };
  const endpoint = await listening(undefined, (server) => void securePort(server, tls));
  const accepted = once(endpoint.server, 'connection');
  const socket = net.connect(endpoint.port, '127.0.0.1');
  await accepted;
  void endpoint.close();
  const secured = connectTls({ socket, rejectUnauthorized: false });
  secured.on('error', () => undefined).write('PING\r\n');
  await new Promise((resolve) => secured.resume().once('close', resolve));
});

test('a command under way is answered before the endpoint ends its connection', async () => {
  const { port, begun, finish, ...endpoint } = await listening();
  const [busy, idle] = [await saying(port, 'INCR counter\r\n'), await saying(port, '')];
  await begun;
  const answers = Promise.all([text(busy), text(idle)]);
  const closed = endpoint.close();
  finish();
  expect(await answers).toEqual([':1\r\n', '']);
  await closed;
});
