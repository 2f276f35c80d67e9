// Rings on disk: hot reload under load, damaged files, servers that were down, restarts.
import { mkdirSync } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { waitFor } from '@ringwright/node/wait-for';
import { expect, test } from 'vitest';
import { type Cluster, clusterForTest, keyspace } from '../support/cluster.ts';
import type { ServerUnderTest } from '../support/server-under-test.ts';
import { Traffic } from '../support/traffic.ts';

/** Commits a version without moves: only the meta of a device changes. */
async function anotherVersion(cluster: Cluster): Promise<number> {
  const next = (await cluster.head()).version + 1;
  return (await cluster.commit('set-device', 'd0', '--meta', `version ${next}`)).version;
}

async function hasVersion(server: ServerUnderTest, version: number): Promise<void> {
  await waitFor(`${server.place.device} to have version ${version}`, {
    ask: async () => (await server.status()).rings[0]?.version,
    until: (active) => active === version,
  });
}

function versionFile(folder: string, version: number): string {
  return path.join(folder, `${String(version).padStart(7, '0')}.ring`);
}

async function flipByteOf(file: string): Promise<void> {
  const bytes = await fs.readFile(file);
  bytes[bytes.length >> 1]! ^= 1;
  await fs.writeFile(file, bytes);
}

test('no request fails while five versions are pushed', async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 16 });
  const traffic = new Traffic({ keyspace, ports: () => cluster.ports(), seed: 10 });
  await traffic.within('five reloads', async () => {
    for (let version = 2; version <= 6; version += 1) {
      await anotherVersion(cluster);
      await cluster.push();
    }
    await traffic.goesOn();
  });
  for (const server of cluster.servers) await hasVersion(server, 6);
  expect(await traffic.verdict()).toEqual([]);
  expect(traffic.failures()).toEqual([]);
});

test('a damaged file in --rings is refused and logged once, and a good one is loaded', async () => {
  const cluster = await clusterForTest({
    servers: 3,
    partitions: 8,
    extra: ({ rings }) => {
      mkdirSync(rings, { recursive: true });
      return ['--rings', rings];
    },
  });
  const [server] = cluster.servers;
  const version = await anotherVersion(cluster);
  for (const one of cluster.servers) await hasVersion(one, version);
  const versions = path.join(cluster.rings, keyspace, 'versions');
  const damaged = versionFile(versions, version);
  const good = await fs.readFile(damaged);
  // A commit that died before its log entry leaves such a file. It is no version, whatever it
  // contains.
  await fs.writeFile(versionFile(versions, version + 1), Buffer.alloc(100));
  for (const bytes of [good.subarray(0, good.length - 1), Buffer.alloc(0), flipped(good)]) {
    const before = refusedFiles(server!);
    await fs.writeFile(damaged, bytes);
    await waitFor('the damaged file to be refused', {
      ask: () => refusedFiles(server!),
      until: (count) => count > before,
    });
    expect(refusedFiles(server!)).toBe(before + 1);
    await hasVersion(server!, version);
  }
  await fs.writeFile(damaged, good);
  const next = await anotherVersion(cluster);
  for (const one of cluster.servers) await hasVersion(one, next);
});

function flipped(bytes: Uint8Array): Buffer {
  const copy = Buffer.from(bytes);
  copy[copy.length >> 1]! ^= 1;
  return copy;
}

function refusedFiles(server: ServerUnderTest): number {
  return server.logLines().filter(({ msg }) => msg === 'ring file refused').length;
}

test('a server that was down catches up from a peer, without another push', async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 8 });
  const away = cluster.servers[1]!;
  await away.kill();
  const version = await anotherVersion(cluster);
  const push = await cluster.builder.run(['push', keyspace, '--json']);
  expect(push.exit).toBe(4);
  expect(JSON.parse(push.stdout)).toMatchObject({ accepted: 2, unreachable: 1 });
  const servers = await cluster.builder.run(['servers', keyspace]);
  expect(servers.exit).toBe(4);
  const health = await cluster.builder.answer('health');
  const trouble = { kind: 'down', address: away.address };
  expect(health).toMatchObject({ exit: 4, document: { ok: false, troubles: [trouble] } });
  // `status` reports the last push that the log knows of, with its time.
  const { stdout: status } = await cluster.builder.run(['status', keyspace]);
  expect(status).toMatch(new RegExp(`version ${version} was pushed to 2 of 3 servers at 20`));
  expect(servers.stdout).toContain(`active on 2 of 3 servers`);
  expect(servers.stdout).toContain(`${away.address} cannot be reached`);
  await cluster.restart(away);
  await hasVersion(away, version);
  await away.ready();
  expect(await cluster.builder.json('health')).toMatchObject({ ok: true, troubles: [] });
  expect(await cluster.builder.json(['servers', keyspace])).toMatchObject({ current: 3 });
  await cluster.push();
  const whole = { version, by: 'push', accepted: 3, servers: 3 };
  expect(await cluster.builder.json(['status', keyspace])).toMatchObject({ push: whole });
});

test('after all servers are killed, each returns with its ring, without a peer', async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 8 });
  const version = await anotherVersion(cluster);
  await cluster.push();
  for (const server of cluster.servers) await server.kill();
  const [first, ...others] = cluster.servers;
  await cluster.restart(first!);
  expect((await first!.status()).rings[0]).toMatchObject({ version, notReady: 0 });
  for (const server of others) await cluster.restart(server);
});

test('the last good ring is used if the newest one on disk is damaged', async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 8 });
  const version = await anotherVersion(cluster);
  await cluster.push();
  for (const server of cluster.servers) await server.stop();
  const [first, ...others] = cluster.servers;
  await flipByteOf(versionFile(path.join(first!.place.data, 'rings', keyspace), version));
  await cluster.restart(first!);
  expect((await first!.status()).rings[0]?.version).toBe(version - 1);
  expect(first!.logLines().some(({ level, msg }) => level === 'error' && /damaged/.test(msg))).toBe(
    true,
  );
  for (const server of others) await cluster.restart(server);
  await hasVersion(first!, version);
});
