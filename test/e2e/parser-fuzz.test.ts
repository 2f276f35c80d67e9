// Fuzzes the HTTP, WebSocket and Redis parsers of real servers with hostile input from a seed.
// FUZZ_ROUNDS makes the test longer, FUZZ_SEED replays a failure.
import fs from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { pick, seededRandom } from '@ringwright/base/random';
import { freePorts } from '@ringwright/node/free-ports';
import { joinFrame, packEnvelope } from '@ringwright/wire/frame';
import { messageKinds } from '@ringwright/wire/messages';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { askServer } from '../support/ask-server.ts';
import { type Cluster, endCluster, keyspace, startCluster } from '../support/cluster.ts';
import {
  binaryMessage,
  hostileHttp,
  hostileRedis,
  hostileValue,
  lyingHello,
  mutated,
  randomBytes,
  webSocketFrame,
} from '../support/hostile-input.ts';
import { hostileEnvelope } from '../support/hostile-messagepack.ts';

const rounds = Number(process.env.FUZZ_ROUNDS ?? 150);
const seed = Number(process.env.FUZZ_SEED ?? 20_261_121);
/** Number of sockets open at the same time. */
const atOnce = 10;
const timeoutMs = 60_000 + rounds * 100;
/** A generous limit: if a parser kept its input, the growth would be far larger. */
const residentGrowthBytesMax = 400 * 1024 * 1024;

let cluster: Cluster;
let port = 0;
let redisPort = 0;
let residentBefore = 0;

beforeAll(async () => {
  [redisPort = 0] = await freePorts(1);
  const extra = () => ['--redis-port', String(redisPort)];
  cluster = await startCluster({ servers: 1, replicas: 1, partitions: 8, extra });
  [port = 0] = cluster.ports();
  await askServer(port, { method: 'PUT', path: kept, body: 'before' });
  residentBefore = await resident();
});
afterAll(() => endCluster(cluster));

/** The key that requests name. Some of the random requests are valid and change it. */
const there = `/v1/${keyspace}/there`;
const kept = `/v1/${keyspace}/kept`;

async function resident(): Promise<number> {
  const { bytes } = await askServer(port, { path: '/metrics' });
  return Number(/^process_resident_memory_bytes\S* (\S+)/m.exec(bytes.toString())?.[1]);
}

/** The server reads and writes, has the same ring, and has not kept what it was sent. */
async function isWell(): Promise<void> {
  const read = await askServer(port, { path: kept });
  expect(`${read.status} ${read.bytes.toString()}`).toBe('200 before');
  const written = await askServer(port, { method: 'PUT', path: `${kept}-${seed}`, body: 'x' });
  expect(written.status).toBe(204);
  const status = await cluster.servers[0]!.status();
  expect(status.rings).toMatchObject([{ version: 1 }]);
  expect((await resident()) - residentBefore).toBeLessThan(residentGrowthBytesMax);
}

/** Sends the pieces, ends its side, and waits until the server has closed the other side. */
function sendAndEnd(to: number, pieces: readonly Uint8Array[]): Promise<void> {
  return new Promise((resolve) => {
    const socket = net.connect({ port: to, host: '127.0.0.1' });
    socket.on('error', () => undefined); // a reset is an answer too
    socket.on('close', () => resolve());
    socket.resume();
    for (const piece of pieces) socket.write(piece);
    socket.end();
  });
}

async function inBatches(count: number, one: (number: number) => Promise<void>): Promise<void> {
  for (let from = 0; from < count; from += atOnce) {
    const numbers = Array.from({ length: Math.min(atOnce, count - from) }, (_, n) => from + n);
    await Promise.all(numbers.map(one));
  }
}

const replay = (what: string): string =>
  `replay: FUZZ_SEED=${seed} FUZZ_ROUNDS=${rounds} npx vitest run test/e2e/parser-fuzz -t ${what}`;

describe(`seed ${seed}`, { timeout: timeoutMs }, () => {
  test('http: hostile requests do no harm', async () => {
    await inBatches(rounds, (number) => {
      const random = seededRandom(seed + number);
      return sendAndEnd(port, [hostileHttp(random, there), hostileHttp(random, there)]);
    });
    await expect(isWell(), replay('http')).resolves.toBeUndefined();
  });

  test('websocket: damaged frames do no harm', async () => {
    await inBatches(rounds, (number) => {
      const random = seededRandom(seed + number);
      const call = joinFrame([packEnvelope([0, 1, pick(random, methods), {}])]);
      const payloads = [call, randomBytes(random, 300), mutated(random, call)];
      const frames = Array.from({ length: 1 + random.below(20) }, () =>
        mutated(random, webSocketFrame(random, pick(random, payloads))),
      );
      return sendAndEnd(port, [upgrade(), ...frames]);
    });
    await expect(isWell(), replay('frames')).resolves.toBeUndefined();
  });

  test('websocket: hostile messages do no harm', async () => {
    await inBatches(rounds, (number) => sendCalls(seededRandom(seed + number)));
    await expect(isWell(), replay('messages')).resolves.toBeUndefined();
  });

  test('websocket: hostile extensions of MessagePack do no harm', async () => {
    await inBatches(rounds, (number) => {
      const random = seededRandom(seed + number);
      const { method, request } = pick(random, kinds);
      const [key = 'key'] = Object.keys('shape' in request ? request.shape : {});
      const calls = Array.from({ length: 1 + random.below(5) }, () =>
        hostileEnvelope(random, method, key),
      );
      return sendAndEnd(port, [upgrade(), binaryMessage(joinFrame(calls))]);
    });
    await expect(isWell(), replay('extensions')).resolves.toBeUndefined();
  });

  test('websocket: frames full of calls that nobody knows do no harm', async () => {
    const call = packEnvelope([0, 1, 'no such message', null]);
    await inBatches(rounds, (number) => {
      const count = 1 + seededRandom(seed + number).below(2_000);
      const frame = binaryMessage(joinFrame(Array<Uint8Array>(count).fill(call)));
      return sendAndEnd(port, [upgrade(), frame, frame]);
    });
    await expect(isWell(), replay('nobody')).resolves.toBeUndefined();
  });

  test('websocket: slow readers do no harm', async () => {
    const key = 'slow';
    const body = Buffer.alloc(16 * 1024);
    await askServer(port, { method: 'PUT', path: `/v1/${keyspace}/${key}`, body });
    const request = { keyspace, key: Buffer.from(key), consistency: 'one', session: null };
    const get = packEnvelope([0, 1, 'coordinate-get', request]);
    const frame = binaryMessage(joinFrame(Array<Uint8Array>(1_000).fill(get)));
    await Promise.all([1, 2].map(() => askAndNeverRead(frame)));
    await expect(isWell(), replay('slow')).resolves.toBeUndefined();
  });

  test('redis: hostile requests do no harm', async () => {
    await inBatches(rounds, (number) => {
      const random = seededRandom(seed + number);
      const sent = Array.from({ length: 1 + random.below(8) }, () => hostileRedis(random));
      return sendAndEnd(redisPort, sent);
    });
    await expect(isWell(), replay('redis')).resolves.toBeUndefined();
  });

  // The last test, because it restarts the server.
  test('websocket: lies in valid hellos do no harm', async () => {
    const [server] = cluster.servers;
    const { data } = server!.place;
    const read = async (file: string) =>
      JSON.parse(await fs.readFile(path.join(data, file), 'utf8')) as Record<string, unknown>;
    const before = await read('life.json');
    const expiring = `/v1/${keyspace}/expiring`;
    await askServer(port, { method: 'PUT', path: `${expiring}?ttl=55`, body: 'x' });
    let called = 0;
    const liar = net.createServer((socket) => {
      called += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => liar.listen(0, '127.0.0.1', resolve));
    const { port: liarPort } = liar.address() as net.AddressInfo;
    const addresses = [server!.address, `127.0.0.1:${liarPort}`, '', 'x'.repeat(300)];
    await inBatches(rounds, (number) => {
      const random = seededRandom(seed + number);
      const victim = { born: String(before['born']), addresses, nowMs: Date.now() };
      return sendAndClose([packEnvelope([0, 1, 'hello', lyingHello(random, victim)])]);
    });
    await expect(isWell(), replay('lies')).resolves.toBeUndefined();
    liar.close();
    expect(called, 'nobody is called').toBe(0);
    const after = await read('life.json');
    expect(Number(after['age']) - Number(before['age']), 'it only grew older').toBeLessThan(100);
    expect((await askServer(port, { path: expiring })).status, 'not expired').toBe(200);
    expect(
      await fs.readFile(path.join(data, 'peers.json'), 'utf8').catch(() => '{}'),
    ).not.toContain(String(before['born']));
    expect(await server!.stop()).toBe(0);
    await cluster.restart(server!);
    await expect(isWell(), replay('lies')).resolves.toBeUndefined();
  });
});

/** Returns the request that opens a WebSocket. */
function upgrade(): Buffer {
  const lines = [
    'GET /v1/wire HTTP/1.1',
    'Host: 127.0.0.1',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}`,
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
}

/** Sends requests as fast as the server takes them, until the server ends the connection. */
function askAndNeverRead(frame: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    const socket = net.connect({ port, host: '127.0.0.1' });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
    socket.pause();
    socket.write(upgrade());
    const ask = (): void => {
      // In the next turn, so that the end of the connection is noticed in between.
      socket.write(frame, (error) => (error ? socket.destroy() : setImmediate(ask)));
    };
    ask();
  });
}

const kinds = Object.values(messageKinds);
const methods = kinds.map(({ method }) => method);

/** Sends calls of every kind with field values that no client would send. */
function sendCalls(random: ReturnType<typeof seededRandom>): Promise<void> {
  return sendAndClose(Array.from({ length: 10 }, (_, index) => hostileCall(random, index + 1)));
}

/** Sends each envelope in a frame of its own and ignores the answers. */
function sendAndClose(envelopes: readonly Uint8Array[]): Promise<void> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/wire`, { perMessageDeflate: false });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
    socket.on('open', () => {
      for (const envelope of envelopes) socket.send(joinFrame([envelope]));
      socket.close();
    });
  });
}

function hostileCall(random: ReturnType<typeof seededRandom>, id: number): Uint8Array {
  const { method, request } = pick(random, kinds);
  const usual = { keyspace, partition: 0, ringVersion: 1, key: Buffer.from('there'), limit: 1 };
  const fields = Object.keys('shape' in request ? request.shape : {});
  const body = Object.fromEntries(
    fields.map((name) => {
      const known = usual[name as keyof typeof usual];
      return [name, known !== undefined && random.below(3) > 0 ? known : hostileValue(random)];
    }),
  );
  const packed = packEnvelope([0, id, method, random.below(8) === 0 ? hostileValue(random) : body]);
  return random.below(4) === 0 ? mutated(random, packed) : packed;
}
