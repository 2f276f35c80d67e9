// ring-builder push against real servers: canaries, stopping at a refusal, how many are enough.
import { once } from 'node:events';
import fs from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Cluster, endCluster, keyspace, startCluster } from '../support/cluster.ts';
import { type RingBuilder, ringBuilderIn } from '../support/ring-builder-program.ts';

interface Pushed {
  readonly accepted: number;
  readonly refused: number;
  readonly unreachable: number;
  readonly skipped: number;
  readonly servers: readonly { readonly sent?: string; readonly bytesSent?: number }[];
}

let cluster: Cluster;
/** A repository whose second version differs from the cluster's. */
let fork: RingBuilder;
beforeAll(async () => {
  cluster = await startCluster({ servers: 3, partitions: 8 });
  const folder = path.join(cluster.folder, 'fork');
  await fs.cp(cluster.rings, path.join(folder, 'rings'), { recursive: true });
  fork = await ringBuilderIn(folder);
  await fork.json(['set-device', keyspace, 'd0', '--meta', 'of the fork']);
  await fork.json(['commit', keyspace, '-m', 'fork']);
});
afterAll(() => endCluster(cluster));

async function push(builder: RingBuilder, ...args: string[]) {
  const { exit, stdout, stderr } = await builder.run(['push', keyspace, '--json', ...args]);
  if (stdout === '') throw new Error(`push ended with ${exit}: ${stderr}`);
  return { exit, ...(JSON.parse(stdout) as Pushed) };
}

async function doorTo(port: number): Promise<string> {
  const door = net.createServer((socket) => {
    const there = net.connect(port, '127.0.0.1');
    socket.on('error', () => there.destroy()).pipe(there);
    there.on('error', () => socket.destroy()).pipe(socket);
  });
  door.listen(0, '127.0.0.1');
  await once(door, 'listening');
  onTestFinished(() => void door.close());
  return `127.0.0.1:${(door.address() as net.AddressInfo).port}`;
}

test('after a canary accepts and is ready, the other servers follow', async () => {
  await cluster.commit('set-device', 'd0', '--meta', 'of the cluster');
  const answer = await push(cluster.builder, '--canary', '1');
  expect(answer).toMatchObject({ exit: 0, accepted: 3, skipped: 0, enough: true });
  // The other servers may have fetched the ring from the canary by now.
  expect(answer.servers[0]).toMatchObject({ sent: 'delta' });
});

test('a repeated push sends nothing and reports the same result', async () => {
  const answer = await push(cluster.builder);
  expect(answer).toMatchObject({ exit: 0, accepted: 3 });
  expect(answer.servers.map(({ sent, bytesSent }) => `${sent} ${bytesSent}`)).toEqual([
    ...['had 0', 'had 0', 'had 0'],
  ]);
});

test('servers shows the version in memory and on disk, and since when it is active', async () => {
  const seen = await cluster.builder.json<{
    readonly version: number;
    readonly id: string;
    readonly servers: readonly { readonly sinceMs: number }[];
  }>(['servers', keyspace]);
  const { version, id } = seen;
  for (const server of seen.servers) {
    expect(server).toMatchObject({ version, id, disk: { version, id }, why: '', refusal: '' });
    expect(server.sinceMs).toBeGreaterThan(0);
  }
  const { stdout } = await cluster.builder.run(['servers', keyspace]);
  expect(stdout).toMatch(/VERSION +ID +SINCE +DISK/);
  expect(stdout).toMatch(/ 2 +[0-9a-f]{12} +\d{4}-\d\d-\d\dT[\d:]{8}Z +2 /);
});

test('a canary that refuses ends the push before the other servers', async () => {
  const refused = await push(fork, '--canary', '1');
  expect(refused).toMatchObject({ exit: 5, accepted: 0, refused: 1, skipped: 2 });
  const kept = await push(fork, '--canary', '1', '--keep-going');
  expect(kept, 'canaries are canaries').toMatchObject({ exit: 5, refused: 1, skipped: 2 });
});

test('a push ends at the first refusal, and with --keep-going it tries every server', async () => {
  const { port } = cluster.servers[0]!.place;
  // One server under many addresses, because the same address twice would count once.
  const doors = await Promise.all(Array.from({ length: 60 }, () => doorTo(port)));
  const many = doors.flatMap((address) => ['--to', address]);
  const stopped = await push(fork, ...many);
  expect(stopped.exit).toBe(5);
  expect(stopped.refused).toBeLessThan(63);
  expect(stopped.refused + stopped.skipped).toBe(63);
  const all = await push(fork, ...many, '--keep-going');
  expect(all).toMatchObject({ exit: 5, refused: 63, skipped: 0 });
});

test('an unreachable canary ends the push before the other servers', async () => {
  await cluster.servers[0]!.stop();
  await cluster.commit('set-device', 'd0', '--meta', 'away');
  const answer = await push(cluster.builder, '--canary', '1');
  expect(answer).toMatchObject({ exit: 4, accepted: 0, unreachable: 1, skipped: 2 });
});

test('with one of three servers down, a majority or a zone is reached, but not all', async () => {
  const all = await push(cluster.builder);
  expect(all).toMatchObject({ exit: 4, accepted: 2, unreachable: 1, enough: false });
  const quorum = await push(cluster.builder, '--wait', 'quorum');
  expect(quorum).toMatchObject({ exit: 0, accepted: 2, unreachable: 1, enough: true });
  const zone = await push(cluster.builder, '--wait', 'zone');
  expect(zone).toMatchObject({ exit: 0, accepted: 2, enough: true });
  await cluster.restart(cluster.servers[0]!);
});

test.each([
  ['--wait', 'most'],
  ['--canary', '-1'],
  ['--canary', '1.5'],
])('%s %s is refused', async (...args) => {
  expect((await cluster.builder.run(['push', keyspace, ...args])).exit).toBe(2);
});
