// Checks scans against a model while a server joins, another is killed and restarted, and an
// application writes: every record that exists throughout is returned once, in order, over every
// interface.
import { seededRandom } from '@ringwright/base/random';
import type { Client } from '@ringwright/client/client';
import { connect } from '@ringwright/client/connect';
import { partitionerOf } from '@ringwright/ring/partitioner/partition-of-key';
import type { Partitioner } from '@ringwright/ring/partitioner/partitioner';
import { expect, test } from 'vitest';
import { askServer } from '../support/ask-server.ts';
import { type Cluster, clusterForTest, keyspace } from '../support/cluster.ts';

const shapes: [string, readonly string[], Partitioner][] = [
  [
    'ranges',
    '--partitioner ranges --boundaries c,k/2,k/4,k/41'.split(' '),
    { kind: 'ranges', partitions: 5, starts: ['c', 'k/2', 'k/4', 'k/41'] },
  ],
  [
    'hashes of tags',
    '--partitioner hash-intervals --hash murmur3 --partitions 8 --hash-key /'.split(' '),
    { kind: 'hash-intervals', hash: 'murmur3', hashKey: '/', partitions: 8 },
  ],
];

const random = seededRandom(7);
const stable = new Map<string, string>();
for (let number = 0; number < 700; number += 1) {
  const group = ['a', 'b/x', 'k', 'k', '\xff'][random.below(5)] ?? 'a';
  stable.set(`${group}/${random.below(100_000)}`, `value ${number}`);
}

interface Interval {
  readonly prefix: string;
  readonly from: string;
  readonly to: string | null;
  readonly reverse: boolean;
}

const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
const urlOf = (text: string): string =>
  [...bytesOf(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');

function someInterval(): Interval {
  const prefix = random.below(3) === 0 ? ['k/', 'k/4', '\xff', 'b/x/'][random.below(4)]! : '';
  const from = random.below(2) === 0 ? '' : ['a/3', 'k/', 'k/41', 'c'][random.below(4)]!;
  const to = random.below(2) === 0 ? null : ['k/41', 'k/9', '\xff/5', 'c'][random.below(4)]!;
  return { prefix, from, to, reverse: random.below(2) === 0 };
}

type Records = [key: string, value: string][];

/** Ignores what the application writes meanwhile, except that each key may come only once. */
function checkScan(found: Records, interval: Interval, partitioner: Partitioner): void {
  const { prefix, from, to, reverse } = interval;
  const about = JSON.stringify(interval);
  expect(new Set(found.map(([key]) => key)).size, about).toBe(found.length);
  const isIn = (key: string): boolean =>
    key.startsWith(prefix) && key >= from && (to === null || key < to);
  expect(
    found.filter(([key]) => !isIn(key)),
    about,
  ).toEqual([]);
  const sign = reverse ? -1 : 1;
  const partitionOf = partitionerOf(partitioner);
  // The first of equal arcs has the last hashes of the circle, so a scan reads it at the end.
  const last = partitioner.kind === 'hash-intervals' ? partitioner.partitions : 0;
  const placeOf = (key: string): number => partitionOf(bytesOf(key)) || last;
  const inOrder = (a: string, b: string): number =>
    sign * (placeOf(a) - placeOf(b) || Buffer.compare(bytesOf(a), bytesOf(b)));
  const wanted = [...stable].filter(([key]) => isIn(key)).sort(([a], [b]) => inOrder(a, b));
  expect(
    found.filter(([key]) => stable.has(key)),
    about,
  ).toEqual(wanted);
  const keys = found.map(([key]) => key);
  expect(keys, about).toEqual(keys.toSorted(inOrder));
}

/** Stops after some records, and continues from the cursor of the scan. */
async function scanWithClient(client: Client, interval: Interval): Promise<Records> {
  const { prefix, from, to, reverse } = interval;
  const bounds = { prefix: bytesOf(prefix), from: bytesOf(from), reverse };
  const options = { ...bounds, ...(to !== null && { to: bytesOf(to) }) };
  const found: Records = [];
  let isEnd = false;
  for (let cursor: string | null = null; !isEnd; ) {
    const scan = client.scan({ ...options, cursor });
    let left = 1 + random.below(400);
    isEnd = true;
    for await (const { key, value } of scan) {
      found.push([textOf(key), textOf(value)]);
      left -= 1;
      if (left > 0) continue;
      isEnd = false;
      break;
    }
    ({ cursor } = scan);
    expect(cursor === null, 'null at the end').toBe(isEnd);
  }
  return found;
}

interface Item {
  readonly key?: string;
  readonly key64?: string;
  readonly value: string;
}

/** Requests every page from a random server. */
async function scanWithHttp(cluster: Cluster, interval: Interval): Promise<Records> {
  const { prefix, from, to, reverse } = interval;
  const end = to === null ? '' : `&end=${urlOf(to)}`;
  const asked = `prefix=${urlOf(prefix)}&start=${urlOf(from)}${end}&reverse=${reverse}`;
  const found: Records = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const ports = cluster.ports();
    const port = ports[random.below(ports.length)] ?? 0;
    const rest: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const query = `${asked}&limit=${1 + random.below(300)}${rest}`;
    const asking = askServer(port, { path: `/v1/_scan/${keyspace}?${query}` });
    const answer = await asking.catch(() => null);
    if (answer === null) continue; // it was killed: another server takes the cursor
    expect(answer.status, answer.bytes.toString()).toBe(200);
    const page = JSON.parse(answer.bytes.toString()) as { items: Item[]; cursor: string | null };
    for (const { key, key64 = '', value } of page.items) {
      const bytes = key === undefined ? Buffer.from(key64, 'base64') : Buffer.from(key);
      found.push([textOf(bytes), value]);
    }
    ({ cursor } = page);
  }
  return found;
}

test.each(shapes)('scan of %s is exact', { timeout: 60_000 }, async (_, words, partitioner) => {
  const cluster = await clusterForTest({ servers: 3, replicas: 3, partitioner: words });
  const addresses = cluster.servers.map(({ address }) => address);
  await using client = await connect(addresses, { keyspace });
  const entries = [...stable].map(([key, value]) => [bytesOf(key), value] as const);
  const [written, joiner] = await Promise.all([client.putMany(entries), cluster.addServer()]);
  expect(written.filter(({ ok }) => !ok)).toEqual([]);

  let isOver = false;
  const application = async (): Promise<void> => {
    for (let number = 0; !isOver; number += 1) {
      const key = `${['a', 'k', 'k/41'][number % 3]}~${number % 50}`;
      const work = number % 4 === 3 ? client.delete(key) : client.put(key, 'passing');
      await work.catch(() => undefined); // fails if its server was killed
    }
  };
  const changes = async (): Promise<void> => {
    await cluster.commit('add', joiner.text, '1');
    const rollout = cluster.builder.json(['rollout', keyspace]);
    expect(await rollout).toMatchObject({ end: 'done' });
    const [victim] = cluster.servers;
    await victim!.kill();
    await scanOnce();
    await cluster.restart(victim!);
  };
  const scanOnce = async (): Promise<void> => {
    const [one, two] = [someInterval(), someInterval()];
    checkScan(await scanWithClient(client, one), one, partitioner);
    checkScan(await scanWithHttp(cluster, two), two, partitioner);
  };
  const end = (): void => {
    isOver = true;
  };
  let scans = 0;
  const scanning = async (): Promise<void> => {
    for (; !isOver; scans += 1) await scanOnce();
  };
  const works = [application(), scanning().finally(end), changes().finally(end)];
  await Promise.allSettled(works);
  await Promise.all(works);
  expect(scans).toBeGreaterThan(1);
});
