// Starting and stopping a server: what it must refuse before anything changes, and the clean end.
import { once } from 'node:events';
import fs from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { freePorts } from '@ringwright/node/free-ports';
import { waitFor } from '@ringwright/node/wait-for';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkData } from '../../tools/ring-server/check-data.ts';
import { askServer } from '../support/ask-server.ts';
import { type Cluster, endCluster, keyspace, startCluster } from '../support/cluster.ts';
import { type LogLine, ServerUnderTest } from '../support/server-under-test.ts';

let cluster: Cluster;
let running: ServerUnderTest;
beforeAll(async () => {
  cluster = await startCluster({ servers: 1, partitions: 4, replicas: 1 });
  running = cluster.servers[0]!;
  await put('before');
});
afterAll(() => endCluster(cluster));

async function put(body: string): Promise<number> {
  const request = { method: 'PUT', path: `/v1/${keyspace}/key`, body } as const;
  return (await askServer(running.place.port, request)).status;
}

/** Returns its log from this character on. The text before contains more than log lines. */
function saidSince(start: number): LogLine[] {
  const lines = running.logText().slice(start).split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as LogLine);
}

async function endOf(place: Partial<ServerUnderTest['place']>, extra: string[] = []) {
  const [port = 0] = await freePorts(1);
  const data = path.join(cluster.folder, `try-${port}`);
  const server = new ServerUnderTest({ device: 'try', zone: 1, port, data, ...place });
  const before = server.logText().length;
  server.spawn(extra);
  const exit = await server.exited();
  return { exit, said: server.logText().slice(before), data: server.place.data };
}

test('a port in use ends the start with LISTEN_FAILED and frees the data folder', async () => {
  const { port } = running.place;
  const { exit, said, data } = await endOf({ port });
  expect(exit).toBe(4);
  expect(said).toContain('LISTEN_FAILED');
  expect(said).toContain(`127.0.0.1:${port}`);
  expect(said).toContain('choose another --listen');
  await expect(fs.stat(data), 'nothing was opened').rejects.toThrow('ENOENT');
  const [free = 0] = await freePorts(1);
  const later = new ServerUnderTest({ device: 'try', zone: 1, port: free, data });
  await later.start();
  expect(await later.stop()).toBe(0);
});

test('a port in use ends a start on existing rings and leaves the data unchanged', async () => {
  expect(await running.stop()).toBe(0);
  const before = await fs.readFile(path.join(running.place.data, 'life.json'), 'utf8');
  const lines = running.logLines().length;
  await using other = net.createServer().listen(running.place.port, '127.0.0.1');
  await once(other, 'listening');
  running.spawn();
  expect(await running.exited()).toBe(4);
  const said = running.logText().split('\n').slice(lines, -1);
  expect(said).toHaveLength(2);
  expect(said[0]).toContain('LISTEN_FAILED');
  expect(await fs.readFile(path.join(running.place.data, 'life.json'), 'utf8')).toBe(before);
  other.close();
  await running.start();
  await running.ready();
  // The text on stderr is not a log line.
  await fs.truncate(`${running.place.data}.log`);
});

test('a data folder in use ends the start with DATA_DIR_IN_USE', async () => {
  const { data, device } = running.place;
  const copyOfLog = `${data}.log`;
  const { exit, said } = await endOf({ data, device });
  expect(exit, await fs.readFile(copyOfLog, 'utf8')).toBe(3);
  expect(said).toContain('DATA_DIR_IN_USE');
  expect(said).toContain(data);
  await expect(checkData([data])).rejects.toMatchObject({
    code: 'DATA_DIR_IN_USE',
    hint: expect.stringContaining(`stop the server and check again; ring-server inspect ${data} `),
  });
  expect(await put('while another tried')).toBe(204);
});

test('the data folder of another device is refused with DATA_DIR_OF_ANOTHER_DEVICE', async () => {
  const first = await endOf({ device: 'one' }, ['--listen', 'no where']);
  expect(first.exit).toBe(2);
  const [port = 0] = await freePorts(1);
  const data = path.join(cluster.folder, 'of-one');
  const owner = new ServerUnderTest({ device: 'one', zone: 1, port, data });
  await owner.start();
  expect(await owner.stop()).toBe(0);
  const { exit, said } = await endOf({ data, device: 'two' });
  expect(exit).toBe(5);
  expect(said).toContain('DATA_DIR_OF_ANOTHER_DEVICE');
  expect(said).toMatch(/'one'.*'two'/);
  await owner.start();
  expect(await owner.stop()).toBe(0);
});

test('the log of another device in its place is refused before anything is replayed', async () => {
  const { data } = running.place;
  expect(await running.stop()).toBe(0);
  const [own, mark] = [path.join(data, 'log'), path.join(data, 'log', 'device.json')];
  const kept = await fs.readFile(mark, 'utf8');
  await fs.writeFile(mark, kept.replace(/"born":"./, '"born":"x'));
  running.spawn();
  expect(await running.exited()).toBe(5);
  expect(running.logText()).toContain('DATA_DIR_OF_ANOTHER_DEVICE');
  expect(running.logText()).toContain(`${own} belongs to an earlier`);
  await fs.writeFile(mark, kept);
  await running.start();
  await running.ready();
  await fs.truncate(`${data}.log`);
  expect((await askServer(running.place.port, { path: `/v1/${keyspace}/key` })).status).toBe(200);
});

test.each([
  ['an address that is none', ['--listen', 'non sense'], /listen/],
  ['a port that is none', ['--listen', '127.0.0.1:70000'], /listen|70000/],
  ['every address, and none for the ring', ['--listen', '0.0.0.0:6200'], /advertise/],
  ['an unknown option', ['--colour', 'red'], /colour/],
  ['an unknown log level', ['--log-level', 'loud'], /loud|log-level/i],
  ['an empty device name', ['--device', ''], /device/],
])('%s: exit code 2 with a hint, and no data folder is created', async (_, extra, names) => {
  const { exit, said, data } = await endOf({}, extra);
  expect(said).toMatch(names);
  expect(said).toContain('USAGE');
  expect(said).toContain('ring-server --help');
  expect(exit).toBe(2);
  await expect(fs.stat(data)).rejects.toThrow('ENOENT');
});

test('an address that others can reach is refused, with commands to type', async () => {
  const { exit, said, data } = await endOf({}, ['--listen', '10.0.0.1:6200']);
  expect(said).toContain('INSECURE_LISTEN');
  expect(said).toMatch(/^ {2}ring-builder access grant servers --peer --out peer\.token$/m);
  expect(said).toMatch(/^ {2}ring-server .* --device try .* --token-file peer\.token$/m);
  expect(exit).toBe(5);
  await expect(fs.stat(data)).rejects.toThrow('ENOENT');
});

test('--insecure-listen is shown in status and metrics, and by commands that query', async () => {
  const { port } = running.place;
  await running.stop();
  const open = ['--listen', `0.0.0.0:${port}`, '--advertise', `127.0.0.1:${port}`];
  await running.start([...open, '--insecure-listen']);
  const { bytes } = await askServer(port, { path: '/v1/status' });
  expect(JSON.parse(bytes.toString())).toMatchObject({ insecure: true });
  const metrics = await askServer(port, { path: '/metrics' });
  expect(metrics.bytes.toString()).toMatch(/^ringwright_insecure_listen 1$/m);
  const unprotected = 'unprotected (--insecure-listen): anyone who can reach 127.0.0.1:';
  for (const typed of [
    `servers ${keyspace} --json`,
    ...['push', 'rollout', 'splits', 'reconcile'].map((verb) => `${verb} ${keyspace}`),
    `trash ${keyspace} list`,
    `trash ${keyspace} restore none`,
    `moves ${keyspace} rate 1MB/s`,
    `archive-data ${keyspace} --to ${cluster.folder}/archive`,
    `restore-data ${keyspace} --from ${cluster.folder}/archive`,
    'access log',
  ]) {
    const { stderr } = await cluster.builder.run(typed.split(' '));
    expect(stderr, typed).toContain(unprotected);
  }
  await running.stop();
  await cluster.restart(running);
  expect((await cluster.builder.run(['servers', keyspace])).stderr).not.toContain('unprotected');
});

test('a PUT whose body is still arriving at SIGTERM is answered and stored', async () => {
  const socket = net.connect(running.place.port, '127.0.0.1');
  const head = `PUT /v1/${keyspace}/late HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4\r\n\r\n`;
  socket.write(`${head}wh`);
  await waitFor('the request to be there', {
    ask: async () => (await askServer(running.place.port, { path: '/healthz' })).status,
    until: (status) => status === 200,
  });
  const before = running.logText().length;
  const ending = running.stop();
  await waitFor('the server to stop', {
    ask: () => saidSince(before),
    until: (lines) => lines.some(({ msg }) => msg === 'stopping'),
  });
  socket.write('en');
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 204 /);
  expect(await ending).toBe(0);
  await cluster.restart(running);
  const { bytes } = await askServer(running.place.port, { path: `/v1/${keyspace}/late` });
  expect(bytes.toString()).toBe('when');
});

test('SIGTERM under load ends with exit code 0, without a warning or a lost record', async () => {
  const asking = Array.from({ length: 50 }, (_, index) => put(`value ${index}`).catch(() => 0));
  const before = running.logText().length;
  const ending = running.stop();
  const acked = (await Promise.all(asking)).filter((status) => status === 204).length;
  expect(await ending).toBe(0);
  const lines = saidSince(before);
  const trouble = lines.filter(({ level }) => level !== 'info');
  expect(trouble).toEqual([]);
  // The line `listening` of the start may follow the first answer, so only the end is compared.
  const last = lines.map(({ msg }) => msg).slice(-2);
  expect(last).toEqual(['stopping', expect.stringMatching(/^stopped/)]);
  await cluster.restart(running);
  const { status, bytes } = await askServer(running.place.port, { path: `/v1/${keyspace}/key` });
  expect(status).toBe(200);
  expect(bytes.toString()).toMatch(acked > 0 ? /^value / : /^value |^while/);
});
