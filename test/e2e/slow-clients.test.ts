// Clients that begin and do not go on, and those that take all there is: others are answered.
import net from 'node:net';
import { freePorts } from '@ringwright/node/free-ports';
import { waitFor } from '@ringwright/node/wait-for';
import { expect, onTestFinished, test } from 'vitest';
import { askServer } from '../support/ask-server.ts';
import { clusterForTest } from '../support/cluster.ts';

const slow = { timeout: 120_000 };

function connectTo(port: number): net.Socket {
  const socket = net.connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  return socket;
}

test(
  'half requests of Redis, and connections that do nothing, cost others nothing',
  slow,
  async () => {
    const [redisPort = 0] = await freePorts(1);
    const { servers } = await clusterForTest({
      servers: 1,
      replicas: 1,
      extra: () => ['--redis-port', String(redisPort)],
    });
    const [server] = servers;
    if (server === undefined) throw new Error('one server');
    const resident = async (): Promise<number> => {
      const { bytes } = await askServer(server.place.port, { path: '/metrics' });
      return Number(/^process_resident_memory_bytes (\S+)/m.exec(bytes.toString())?.[1]);
    };
    const before = await resident();
    // Each 15 words of a MiB that miss a sixteenth: 1.5 GB if all of them were held.
    const word = Buffer.concat([
      Buffer.from('$1048576\r\n'),
      Buffer.alloc(1_048_576, 'x'),
      Buffer.from('\r\n'),
    ]);
    const begun = Array.from({ length: 100 }, () => connectTo(redisPort));
    const ended = new Set<net.Socket>();
    for (const socket of begun) {
      socket.once('close', () => ended.add(socket));
      socket.write('*16\r\n$3\r\nDEL\r\n');
      for (let at = 0; at < 14; at += 1) socket.write(word);
    }
    await waitFor('those beyond the budget to be ended', {
      ask: () => ended.size,
      until: (count) => count >= 60,
    });
    expect((await resident()) - before).toBeLessThan(900 * 2 ** 20);
    // One thousand that do nothing: the next one is served all the same.
    const idle = Array.from({ length: 1_000 }, () => connectTo(redisPort));
    await waitFor('as many as there are places', {
      ask: () => idle.filter(({ readyState }) => readyState === 'open').length,
      until: (count) => count >= 900,
    });
    const client = connectTo(redisPort);
    const answered = new Promise<string>((resolve) =>
      client.once('data', (data) => resolve(String(data))),
    );
    client.write('PING\r\n');
    expect(await answered).toBe('+PONG\r\n');
  },
);

test('headers that come byte by byte are cut off in time', slow, async () => {
  const { servers } = await clusterForTest({ servers: 1, replicas: 1 });
  const port = servers[0]?.place.port ?? 0;
  const socket = connectTo(port);
  const closed = new Promise<number>((resolve) => {
    const startMs = performance.now();
    socket.once('close', () => resolve(performance.now() - startMs));
  });
  socket.write('GET /v1/status HTTP/1.1\r\n');
  const drip = setInterval(() => socket.write('x'), 500);
  onTestFinished(() => clearInterval(drip));
  expect(await closed).toBeLessThan(25_000);
  expect((await askServer(port, { path: '/healthz' })).status).toBe(200);
});
