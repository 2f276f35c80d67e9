// Rings of hash intervals and of key ranges, from `create` to records over all interfaces, through
// a join: servers and tool agree on the partition of each key.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { connect } from '@ringwright/client/connect';
import { freePorts } from '@ringwright/node/free-ports';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { askServer } from '../support/ask-server.ts';
import { clusterForTest, keyspace } from '../support/cluster.ts';
import { serverProgram } from '../support/server-under-test.ts';

const words = (typed: string): string[] => ['--partitioner', ...typed.split(' ')];

const shapes: [string, readonly string[]][] = [
  [
    'drawn intervals of tenants',
    words('hash-intervals --hash jenkins --partitions 12 --tokens random:3 --hash-key /'),
  ],
  ['one range', words('ranges')],
  ['ranges', words('ranges --boundaries d,m%2C,%FF')],
];

const keys = ['a', 'd', 'czzz', 'm', 'm,', 'm-', 'zürich/x', 'zürich/y', 'tenant/1', 'tenant/2'];

interface Found {
  readonly keys: readonly {
    readonly key: string;
    readonly partition: number;
    readonly devices: readonly { readonly port: number }[];
    readonly interval: { readonly id: number };
  }[];
}

/** Returns the keys in a partition file, as `ring-server inspect` reports them. */
async function keysIn(data: string, partition: number): Promise<string[]> {
  const words = [serverProgram, 'inspect', data, keyspace, String(partition), '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, words);
  const { newest } = JSON.parse(stdout) as { newest: readonly { key: string }[] };
  return newest.map(({ key }) => key);
}

test.each(shapes)('every key is found: %s', { timeout: 120_000 }, async (_, partitioner) => {
  const redisPorts = await freePorts(4);
  const cluster = await clusterForTest({
    servers: 3,
    replicas: 2,
    partitioner,
    extra: ({ servers }) => ['--redis-port', String(redisPorts[servers.length - 1])],
  });
  const { builder, servers } = cluster;
  await using client = await connect(
    servers.map(({ address }) => address),
    { keyspace },
  );
  const redis = new Redis({ port: redisPorts[1] ?? 0, host: '127.0.0.1' });
  onTestFinished(() => redis.disconnect());

  await client.put('of-client', 'one');
  await redis.set('of-redis', 'two');
  for (const [index, key] of keys.entries()) {
    const path = `/v1/${keyspace}/${encodeURIComponent(key)}`;
    const port = servers[index % 3]?.place.port ?? 0;
    const { status } = await askServer(port, { method: 'PUT', path, body: `value of ${key}` });
    expect(status).toBe(204);
  }
  const joiner = await cluster.addServer();
  await cluster.commit('add', joiner.text, '1');
  expect(await builder.json(['rollout', keyspace])).toMatchObject({ end: 'done' });

  expect(await redis.get('of-client')).toBe('one');
  expect((await client.get('of-redis'))?.value).toEqual(Buffer.from('two'));
  const found = await builder.json<Found>(['lookup', keyspace, ...keys]);
  const { intervals } = await builder.json<{ intervals: object[] }>(['table', keyspace]);
  const { partitions } = await cluster.head();
  expect(intervals).toHaveLength(partitions);
  const looked = new Set<number>();
  for (const { key, partition, devices, interval } of found.keys) {
    expect((await client.get(key))?.value, key).toEqual(Buffer.from(`value of ${key}`));
    expect(await redis.get(key)).toBe(`value of ${key}`);
    expect(interval.id).toBe(partition);
    if (looked.size === 2 || looked.has(partition)) continue;
    looked.add(partition);
    const [holder] = servers.filter(({ place }) => place.port === devices[0]?.port);
    expect(await keysIn(holder?.place.data ?? '', partition), key).toContain(key);
  }
});
