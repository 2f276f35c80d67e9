// Lists the keys of a keyspace page by page while the ring changes.
import { scanPageBytesMax } from '@ringwright/base/limits';
import { scanAnswerBytesMax } from '@ringwright/base/limits-listeners';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { askServer, refusalOf } from '../support/ask-server.ts';
import { type Cluster, keyspace } from '../support/cluster.ts';
import { redisCluster } from '../support/redis-server.ts';

const keyCount = 300;
const keyOf = (number: number): string => (number % 10 === 0 ? `%ff${number}` : `key-${number}`);
/** The key as a listing returns it. */
const nameOf = (number: number): string =>
  number % 10 === 0 ? Buffer.from(`\xff${number}`, 'latin1').toString('base64') : keyOf(number);

interface Page {
  readonly keys: readonly { readonly key?: string; readonly key64?: string }[];
  readonly cursor: string | null;
}

interface ScanPage {
  readonly items: readonly (Page['keys'][number] & { readonly value64?: string })[];
  readonly cursor: string | null;
}

async function listPage(port: number, query: string): Promise<Page> {
  const answer = await askServer(port, { path: `/v1/_keys/${keyspace}?${query}` });
  expect(answer.status, answer.bytes.toString()).toBe(200);
  return JSON.parse(answer.bytes.toString()) as Page;
}

const namesOf = ({ keys }: Page): string[] => keys.map(({ key, key64 }) => key ?? key64 ?? '');

async function fill(cluster: Cluster): Promise<void> {
  const [port = 0] = cluster.ports();
  const numbers = Array.from({ length: keyCount }, (_, number) => number);
  const put = async (number: number): Promise<void> => {
    const path = `/v1/${keyspace}/${keyOf(number)}?consistency=all`;
    expect((await askServer(port, { method: 'PUT', path, body: 'x' })).status).toBe(204);
  };
  await Promise.all(numbers.map(put));
}

async function joins(cluster: Cluster): Promise<void> {
  const joiner = await cluster.addServer();
  await cluster.commit('add', joiner.text, '1');
  await cluster.push();
  await cluster.builder.json(['rollout', keyspace]);
}

test('a listing interrupted by a join continues on any server and omits no key', async () => {
  const { cluster, ports } = await redisCluster({ servers: 3, replicas: 2 });
  await fill(cluster);
  const [first = 0] = cluster.ports();
  const begun = await listPage(first, 'limit=70');
  const redis = new Redis({ port: ports[0]!, host: '127.0.0.1', lazyConnect: true });
  onTestFinished(() => redis.disconnect());
  const scanned = await redis.scanBuffer('0', 'COUNT', 70);

  await joins(cluster);

  const found = namesOf(begun);
  const everywhere = cluster.ports();
  let { cursor } = begun;
  for (let turn = 0; cursor !== null; turn += 1) {
    const port = everywhere[turn % everywhere.length] ?? 0;
    const page = await listPage(port, `limit=41&cursor=${encodeURIComponent(cursor)}`);
    found.push(...namesOf(page));
    ({ cursor } = page);
  }
  const wanted = Array.from({ length: keyCount }, (_, number) => nameOf(number)).sort();
  expect(found.sort()).toEqual(wanted);

  let [at, keys] = scanned;
  const scannedKeys = [...keys];
  while (at.toString() !== '0') {
    [at, keys] = await redis.scanBuffer(at.toString(), 'COUNT', 50);
    scannedKeys.push(...keys);
  }
  const names = new Set(scannedKeys.map((key) => key.toString('latin1')));
  expect(names.size).toBe(keyCount);
});

test('a single partition can be listed, and invalid queries are refused', async () => {
  const { cluster } = await redisCluster({ servers: 1, replicas: 1 });
  await fill(cluster);
  const [port = 0] = cluster.ports();
  const pages = await Promise.all(
    Array.from({ length: 16 }, (_, partition) => listPage(port, `partition=${partition}`)),
  );
  expect(pages.every(({ cursor }) => cursor === null)).toBe(true);
  expect(pages.flatMap(namesOf)).toHaveLength(keyCount);
  const { cursor } = await listPage(port, 'limit=5');
  const refused = [
    ...['limit=0', 'limit=x', 'partition=16', 'reverse=1', 'values=no'].map((one) => [
      one,
      'USAGE',
    ]),
    ...['1', '99.', '1.%00', `${cursor}A`, cursor!.slice(1)].map((one) => {
      return [`cursor=${one}`, 'CURSOR_INVALID'];
    }),
    [`cursor=${cursor}&reverse=true`, 'CURSOR_INVALID'],
    ['prefix=%zz', 'KEY_INVALID'],
    [`start=${'a'.repeat(1_025)}`, 'KEY_INVALID'],
  ];
  for (const [query, code] of refused) {
    const answer = await askServer(port, { path: `/v1/_scan/${keyspace}?${query}` });
    expect([query, answer.status, refusalOf(answer).code]).toEqual([query, 400, code]);
    expect(refusalOf(answer).hint).not.toBe('');
  }
  const elsewhere = await askServer(port, { path: '/v1/_keys/nowhere' });
  expect(refusalOf(elsewhere).code).toBe('RING_UNKNOWN');
});

test('a page ends after about one MiB, and a prefix is found past empty partitions', async () => {
  const { cluster } = await redisCluster({ servers: 1, replicas: 1 });
  const [port = 0] = cluster.ports();
  const value = '\u0001'.repeat(900_000);
  const value64 = Buffer.from(value).toString('base64');
  const names = ['a b', 'a+b', 'c1', 'c2', 'c3', 'c4', 'c5'];
  for (const name of names) {
    const path = `/v1/${keyspace}/${encodeURIComponent(name)}`;
    expect((await askServer(port, { method: 'PUT', path, body: value })).status).toBe(204);
  }
  const found: string[] = [];
  let cursor: string | null = null;
  do {
    const at = cursor === null ? '' : `?cursor=${encodeURIComponent(cursor)}`;
    const { bytes } = await askServer(port, { path: `/v1/_scan/${keyspace}${at}` });
    expect(bytes.length).toBeLessThan(1.5 * (scanAnswerBytesMax + scanPageBytesMax));
    const page = JSON.parse(bytes.toString()) as ScanPage;
    for (const item of page.items) expect(item.value64 === value64).toBe(true);
    found.push(...namesOf({ keys: page.items, cursor: null }));
    ({ cursor } = page);
  } while (cursor !== null);
  expect(found.sort()).toEqual(names);
  for (const name of names) {
    const page = await listPage(port, String(new URLSearchParams({ prefix: name, limit: '1' })));
    expect(namesOf(page)).toEqual([name]);
  }
});
