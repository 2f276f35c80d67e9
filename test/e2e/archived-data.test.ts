// Records are archived while an application writes, and restored twice: into their own ring, where
// newer records stay, and into a ring of another shape.
import { mkdir, readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { connect } from '@ringwright/client/connect';
import { waitFor } from '@ringwright/node/wait-for';
import { expect, test } from 'vitest';
import { clusterForTest, keyspace } from '../support/cluster.ts';
import { killCommandAt } from '../support/killed-rollout.ts';
import { ringBuilderHere } from '../support/ring-builder-here.ts';

const keys = Array.from({ length: 400 }, (_, index) => `k/${100 + index}`);
const bytes = Buffer.from([0, 255, 7]);

test('restoring an archive writes missing or older records, and can fill another ring', {
  timeout: 60_000,
}, async () => {
  const partitioner = ['--partitioner', 'ranges', '--boundaries', 'k/2,k/4'];
  const cluster = await clusterForTest({ servers: 3, partitioner });
  const { builder, servers } = cluster;
  const addresses = servers.map(({ address }) => address);
  await using client = await connect(addresses, { keyspace });
  for (const key of keys) await client.put(key, `${key} first`);
  await client.put('k/bytes', bytes);
  await client.put('k/day', 'a day', { ttlMs: 86_400_000 });
  await client.delete('k/100');
  const folder = path.join(cluster.folder, 'archive');
  let isOver = false;
  const writing = (async () => {
    for (let number = 0; !isOver; number += 1) await client.put(`w/${number}`, 'meanwhile');
  })();
  const archive = await builder.json<{ records: number }>([
    'archive-data',
    keyspace,
    '--to',
    folder,
  ]);
  isOver = true;
  await writing;
  expect(archive.records).toBeGreaterThanOrEqual(keys.length + 1);
  const part = path.join(cluster.folder, 'part');
  const one = await builder.json(['archive-data', keyspace, '--to', part, '--partition', '1']);
  expect(one).toMatchObject({ records: 200, partition: 1 });

  await client.put('k/101', 'newer');
  for (const key of ['k/102', 'k/350']) await client.delete(key);
  const restore = (ring: string, from: string) =>
    builder.json<{ written: number }>(['restore-data', ring, '--from', from]);
  expect(await restore(keyspace, part)).toMatchObject({ written: 1, kept: 199 });
  expect(await restore(keyspace, folder)).toMatchObject({ written: 1, expired: 0 });
  expect(await restore(keyspace, folder)).toMatchObject({ written: 0, changed: false });
  const read = async (key: string) => Buffer.from((await client.get(key))?.value ?? []).toString();
  expect([await read('k/100'), await read('k/101')]).toEqual(['', 'newer']);
  expect([await read('k/102'), await read('k/350')]).toEqual(['k/102 first', 'k/350 first']);

  const devices = servers.flatMap(({ text }) => [text, '1']);
  await builder.json([
    'create',
    'other',
    '--partitions',
    '5',
    '--partitioner',
    'murmur3-mod',
    '--replicas',
    '2',
  ]);
  await builder.json(['add', 'other', ...devices]);
  await builder.json(['commit', 'other', '-m', 'first']);
  await builder.json(['push', 'other']);
  // By the clock of the tool's machine, every record has expired.
  const nowMs = () => Date.now() + 2 * 86_400_000;
  const daysAhead = await ringBuilderHere({ rings: cluster.rings, nowMs });
  const restored = await daysAhead.json(['restore-data', 'other', '--from', folder, '--yes']);
  expect(restored).toMatchObject({ written: archive.records, expired: 0 });
  await using other = await connect(addresses, { keyspace: 'other' });
  expect(Buffer.from((await other.get('k/bytes'))?.value ?? [])).toEqual(bytes);
  const { expiresMs } = (await other.get('k/day'))!;
  expect(Math.abs(expiresMs! - (await client.get('k/day'))!.expiresMs!)).toBeLessThan(60_000);

  const file = path.join(part, 'records.bin');
  const records = await readFile(file);
  records[9]! ^= 1;
  await writeFile(file, records);
  for (const [verb, option, place, code] of [
    ['restore-data', '--from', part, 'ARCHIVE_INVALID'],
    ['restore-data', '--from', cluster.folder, 'ARCHIVE_INVALID'],
    ['archive-data', '--to', folder, 'USAGE'],
  ] as const) {
    const { exit, stderr } = await builder.run([verb, keyspace, option, place, '--json']);
    expect([exit, JSON.parse(stderr)]).toMatchObject([2, { code }]);
  }

  // Another run writes there.
  const held = path.join(cluster.folder, 'held');
  await mkdir(held);
  const owner = { pid: 1, host: 'elsewhere', user: 'bob', time: '2026-11-21T02:00:00.000Z' };
  await writeFile(path.join(held, '.lock-elsewhere-1-1'), JSON.stringify(owner));
  const second = await builder.run(['archive-data', keyspace, '--to', held, '--json']);
  expect([second.exit, JSON.parse(second.stderr)]).toMatchObject([3, { code: 'LOCK_HELD' }]);
  expect(await readdir(held)).toEqual(['.lock-elsewhere-1-1']);

  // No server answers for some partitions: the command says what to type, and leaves no file open.
  const cut = path.join(cluster.folder, 'cut');
  for (const server of servers.slice(1)) await server.kill();
  const { exit, stderr } = await builder.run(['archive-data', keyspace, '--to', cut, '--json']);
  expect([exit, JSON.parse(stderr)]).toMatchObject([
    4,
    { code: 'NOT_ENOUGH_REPLICAS', hint: expect.stringContaining(`servers ${keyspace} shows`) },
  ]);
  expect(await openFiles()).not.toContain(path.join(cut, 'records.bin'));
  for (const server of servers.slice(1)) await cluster.restart(server);
});

/** Returns the open files of this process, in which the tool runs too. */
async function openFiles(): Promise<string[]> {
  const open = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`));
  return Promise.all(open.map((link) => link.catch(() => '')));
}

test('a killed archive continues where it stopped, and is signed with the keys of the rings', {
  timeout: 90_000,
}, async () => {
  const cluster = await clusterForTest({ servers: 2, partitions: 4, replicas: 2 });
  const { builder, servers } = cluster;
  await using client = await connect([servers[0]!.address], { keyspace });
  // More data than is archived between two saves of its progress.
  const value = Buffer.alloc(256 * 1024, 'v');
  const many = Array.from({ length: 160 }, (_, index) => `big/${index}`);
  for (const key of many) await client.put(key, value);
  const passphrase = path.join(cluster.folder, 'passphrase');
  await writeFile(passphrase, 'open sesame', { mode: 0o600 });
  const keyFolder = path.join(cluster.folder, 'keys');
  const keys = ['--key-folder', keyFolder, '--passphrase-file', passphrase];
  await builder.json(['key', 'generate', 'ops', ...keys]);
  const folder = path.join(cluster.folder, 'archive');
  const archive = ['archive-data', keyspace, '--to', folder, ...keys];
  const progress = path.join(folder, 'progress.json');
  const moment = waitFor('a part of the archive', {
    ask: () => readFile(progress, 'utf8').catch(() => ''),
    until: (text) => text !== '',
  });
  expect(await killCommandAt(cluster.folder, archive, { moment, signal: 'SIGKILL' })).toBe(true);
  const left = JSON.parse(await readFile(progress, 'utf8')) as Record<string, number>;
  expect(left['records']).toBeGreaterThan(0);
  expect((await builder.run([...archive, '--partition', '1', '--json'])).exit).toBe(2);

  const made = await builder.json(archive);
  expect(made).toMatchObject({ records: many.length, begunMs: left['begunMs'] });
  await expect(readFile(progress)).rejects.toThrow('ENOENT');
  const restore = ['restore-data', keyspace, '--from', folder];
  expect(await builder.json(restore)).toMatchObject({ written: 0, kept: many.length });

  const manifest = path.join(folder, 'manifest.json');
  const changed = (await readFile(manifest, 'utf8')).replace('"version": 1', '"version": 2');
  await writeFile(manifest, changed);
  const refused = await builder.run([...restore, '--json']);
  expect([refused.exit, JSON.parse(refused.stderr)]).toMatchObject([
    5,
    { code: 'CONFIRMATION_NEEDED' },
  ]);
  expect(await builder.json([...restore, '--yes'])).toMatchObject({ written: 0 });
});
