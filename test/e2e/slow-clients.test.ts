// Clients that stall in the middle of a request, and clients that use up all connections: other
// clients are still answered.
import net from 'node:net';
import { redisConnectionsMax } from '@ringwright/base/limits';
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
  'half requests of Redis, idle connections and dripped headers do not affect others',
  slow,
  async () => {
    const redisPorts = await freePorts(2);
    const { servers } = await clusterForTest({
      servers: 2,
      replicas: 1,
      extra: ({ servers: { length } }) => ['--redis-port', String(redisPorts[length - 1])],
    });
    const ports = servers.map(({ place }) => place.port);
    // The dripping client is cut off in time, while the other server has worse clients.
    const dripping = dripTo(ports[1] ?? 0);
    await crowd(ports[0] ?? 0, redisPorts[0] ?? 0);
    expect(await dripping).toBeLessThan(25_000);
    expect((await askServer(ports[1] ?? 0, { path: '/healthz' })).status).toBe(200);
  },
);

/** Sends headers byte by byte. Returns the milliseconds until the server closes the connection. */
function dripTo(port: number): Promise<number> {
  const socket = connectTo(port);
  const startMs = performance.now();
  socket.write('GET /v1/status HTTP/1.1\r\n');
  const drip = setInterval(() => socket.write('x'), 500);
  onTestFinished(() => clearInterval(drip));
  return new Promise((resolve) => socket.once('close', () => resolve(performance.now() - startMs)));
}

async function crowd(port: number, redisPort: number): Promise<void> {
  const resident = async (): Promise<number> => {
    const { bytes } = await askServer(port, { path: '/metrics' });
    return Number(/^process_resident_memory_bytes (\S+)/m.exec(bytes.toString())?.[1]);
  };
  const before = await resident();
  // Each client sends 14 words of a MiB and never the last one: 1.5 GB if all were kept.
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
  // More idle clients than places, which are fewer where the process has few descriptors: the next
  // client is served all the same.
  const idle = Array.from({ length: redisConnectionsMax + 100 }, () => connectTo(redisPort));
  const among = (state: net.SocketReadyState): number =>
    idle.filter(({ readyState }) => readyState === state).length;
  await waitFor('every idle client to have a place or none', {
    ask: () => ({ opening: among('opening'), open: among('open'), closed: among('closed') }),
    until: ({ opening, open, closed }) =>
      opening === 0 && open <= redisConnectionsMax && closed > 0,
  });
  expect(among('open')).toBeGreaterThan(0);
  const client = connectTo(redisPort);
  const answered = new Promise<string>((resolve) =>
    client.once('data', (data) => resolve(String(data))),
  );
  client.write('PING\r\n');
  expect(await answered).toBe('+PONG\r\n');
}
