// Partitions are split and merged under load: every answer is recorded and checked, servers are
// killed in each step, a change is cancelled half-way, and balance moves the children afterwards.

import { connect } from '@ringwright/client/connect';
import type { Ring } from '@ringwright/ring/ring';
import { expect, test } from 'vitest';
import { askServer } from '../support/ask-server.ts';
import { type Cluster, clusterForTest, keyspace } from '../support/cluster.ts';
import { killRolloutAt } from '../support/killed-rollout.ts';
import { Traffic } from '../support/traffic.ts';

interface Table {
  readonly partitions: number;
  readonly intervals: readonly { readonly id: number }[];
}

interface PlanSizes {
  readonly traffic: {
    readonly devices: readonly { readonly bytesIn: number; readonly peakBytes: number }[];
  };
}

interface Proposed {
  readonly proposals: readonly { readonly partition?: number; readonly command?: string }[];
}

async function live({ builder }: Cluster): Promise<number[]> {
  const { intervals } = await builder.json<Table>(['table', keyspace]);
  return intervals.map(({ id }) => id);
}

interface RolledOut {
  readonly copied: { readonly bytes: number };
  readonly filled: { readonly slots: number; readonly bytes: number };
}

async function rolledOut({ builder }: Cluster): Promise<RolledOut> {
  const out = await builder.json<RolledOut>(['rollout', keyspace]);
  expect(out).toMatchObject({ end: 'done', left: [] });
  return out;
}

test('ranges are split, moved to a joiner and merged again', { timeout: 60_000 }, async () => {
  const cluster = await clusterForTest({ servers: 3, partitioner: ['--partitioner', 'ranges'] });
  const traffic = new Traffic({ keyspace, ports: () => cluster.ports(), seed: 4 });
  await traffic.goesOn();
  const proposed = await cluster.builder.json<Proposed>(['splits', keyspace, '--split-above', '9']);
  const [{ partition, command } = {}, ...others] = proposed.proposals;
  expect([partition, others]).toEqual([0, []]);
  expect(command).toMatch(/^ring-builder split notes 0 --at key\/\d/);
  await traffic.within('split in three', async () => {
    await cluster.commit('split', '0', '--at', 'key/4/2', 'key/4/4');
    const { copied, filled } = await rolledOut(cluster);
    expect([copied.bytes, filled.slots], 'filled from what lay there').toEqual([0, 9]);
    expect(filled.bytes).toBeGreaterThan(0);
    await traffic.goesOn();
  });
  expect(await live(cluster)).toEqual([1, 2, 3]);
  const joiner = await cluster.addServer();
  await traffic.within('a server joins', async () => {
    await cluster.commit('add', joiner.text, '1');
    await rolledOut(cluster);
    await traffic.goesOn();
  });
  const { table } = await cluster.head();
  const d3 = table.flatMap((row) => [...row]).filter((device) => device === 3);
  expect(d3.length).toBeGreaterThanOrEqual(2);
  await traffic.within('it leaves, and two are merged', async () => {
    await cluster.commit('set-weight', 'd3', '0');
    await rolledOut(cluster);
    await cluster.commit('merge', '2', '1');
    await rolledOut(cluster);
    await traffic.goesOn();
  });
  expect(await live(cluster)).toEqual([4, 3]);
  expect(await traffic.verdict()).toEqual([]);
  expect(traffic.failures()).toEqual([]);
});

test('all partitions of md5-shift are split, moved, brought together and merged', {
  timeout: 60_000,
}, async () => {
  const cluster = await clusterForTest({ servers: 3, partitioner: ['--partition-power', '2'] });
  const { builder } = cluster;
  const traffic = new Traffic({ keyspace, ports: () => cluster.ports(), seed: 7 });
  await traffic.goesOn();
  await traffic.within('four become eight', async () => {
    await builder.json(['set', keyspace, '--partition-power', '3']);
    // Each of the three devices writes again what it holds. Files grow between two queries.
    const { traffic: bytes } = await builder.json<PlanSizes>(['plan', keyspace]);
    const shares = bytes.devices.map(({ bytesIn, peakBytes }) => Math.round(peakBytes / bytesIn));
    expect(shares).toEqual([2, 2, 2]);
    const { stdout } = await builder.run(['plan', keyspace]);
    expect(stdout).toMatch(/: 24 slots are filled in place; none moves\n/);
    expect(stdout).toMatch(
      / to write, each device from its own files: nothing crosses the network; /,
    );
    expect(stdout).not.toMatch(/to copy|at risk/);
    await cluster.commit('set', '--partition-power', '3');
    await rolledOut(cluster);
    await traffic.goesOn();
  });
  expect(await live(cluster)).toHaveLength(8);
  const joiner = await cluster.addServer();
  await cluster.commit('add', joiner.text, '1');
  await rolledOut(cluster);
  await traffic.within('they come together, and eight become two', async () => {
    await cluster.quickly(['set', keyspace, '--partition-power', '1']);
    await cluster.quickly([
      'commit',
      keyspace,
      '-m',
      'together',
      '--override',
      'most of them move',
    ]);
    await rolledOut(cluster);
    expect(await live(cluster)).toHaveLength(8);
    await cluster.commit('set', '--partition-power', '1');
    await rolledOut(cluster);
    await traffic.goesOn();
  });
  expect(await live(cluster)).toHaveLength(2);
  expect(await traffic.verdict()).toEqual([]);
  expect(traffic.failures()).toEqual([]);
});

/** Number of versions after the commit at which a holder dies. */
const deaths = [
  { verb: 'split', after: 0 },
  { verb: 'merge', after: 1 },
  { verb: 'split', after: 2 },
] as const;

test('a reshape completes although a holder dies in each step', { timeout: 60_000 }, async () => {
  const partitioner = ['--partitioner', 'hash-intervals', '--partitions', '4'];
  const cluster = await clusterForTest({ servers: 3, partitioner });
  const traffic = new Traffic({ keyspace, ports: () => cluster.ports(), seed: 5 });
  await traffic.goesOn();
  for (const { verb, after } of deaths) {
    const ids = await live(cluster);
    const begun: Ring = await cluster.commit(
      verb,
      ...ids.slice(0, verb === 'split' ? 1 : 2).map(String),
    );
    await cluster.push();
    if (after > 0) await killRolloutAt(cluster, cluster.committed(begun.version + after));
    const victim = cluster.servers[after]!;
    await traffic.within(`${verb}: a holder dies in step ${after}`, async () => {
      await victim.kill();
      await cluster.builder.run(['push', keyspace]);
      await traffic.goesOn();
    });
    await cluster.restart(victim);
    await rolledOut(cluster);
    expect((await cluster.head()).version).toBe(begun.version + 2);
    expect((await live(cluster)).length).toBe(ids.length + (verb === 'split' ? 1 : -1));
  }
  expect(await traffic.verdict()).toEqual([]);
});

test('a cancelled split leaves the parents unchanged', { timeout: 60_000 }, async () => {
  const partitioner = ['--partitioner', 'hash-intervals', '--partitions', '2'];
  const cluster = await clusterForTest({ servers: 3, partitioner });
  const traffic = new Traffic({ keyspace, ports: () => cluster.ports(), seed: 6 });
  await traffic.goesOn();
  const begun = await cluster.commit('split', '1', '--parts', '3');
  await killRolloutAt(cluster, cluster.committed(begun.version + 1));
  await traffic.within('cancelled', async () => {
    await cluster.builder.json(['moves', keyspace, 'cancel', 'all']);
    await rolledOut(cluster);
    await traffic.goesOn();
  });
  expect(await live(cluster)).toEqual([0, 1]);
  await cluster.commit('split', '1');
  // All at once, when the table names children that no server reports as complete yet.
  await killRolloutAt(cluster, cluster.committed(begun.version + 5));
  for (const server of cluster.servers) await server.kill();
  for (const server of cluster.servers) await cluster.restart(server);
  await rolledOut(cluster);
  expect(await live(cluster)).toEqual([0, 5, 6]);
  await traffic.goesOn();
  expect(await traffic.verdict()).toEqual([]);
});

interface Listed {
  readonly keys: readonly { readonly key: string }[];
  readonly cursor: string | null;
}

const shapes = [
  ['hashes', ['--partitioner', 'hash-intervals', '--partitions', '3']],
  ['ranges', ['--partitioner', 'ranges', '--boundaries', 'k/15']],
] as const;

test.each(shapes)(
  'scans return each key once during splits and merges: %s',
  { timeout: 60_000 },
  async (kind, partitioner) => {
    const cluster = await clusterForTest({ servers: 3, partitioner });
    const { servers } = cluster;
    await using client = await connect(
      servers.map(({ address }) => address),
      { keyspace },
    );
    const keys = Array.from({ length: 300 }, (_, index) => `k/${100 + index}`);
    for (const key of keys) await client.put(key, key);
    const page = async (cursor: string | null, limit: number): Promise<Listed> => {
      const words = new URLSearchParams({ limit: String(limit), ...(cursor && { cursor }) });
      const path = `/v1/_keys/${keyspace}?${words.toString()}`;
      const { status, bytes } = await askServer(cluster.ports()[0]!, { path });
      expect(status, bytes.toString()).toBe(200);
      return JSON.parse(bytes.toString()) as Listed;
    };
    // Cursors from before the split, in every partition: some at its start, some in its middle.
    const begun = await Promise.all(
      [1, 70, 130, 170, 250, 299].map(async (limit) => ({ limit, ...(await page(null, limit)) })),
    );
    let isOver = false;
    const scanning = (async () => {
      for (let scans = 0; !isOver || scans < 3; scans += 1) {
        const seen: string[] = [];
        for await (const { key } of client.scan()) seen.push(Buffer.from(key).toString());
        expect(seen.toSorted()).toEqual(keys);
      }
    })();
    const [first = 0, second = 0] = await live(cluster);
    const at = kind === 'ranges' ? ['--at', 'k/12'] : [];
    await cluster.builder.json(['split', keyspace, String(first), ...at]);
    await cluster.commit('split', String(second), ...(kind === 'ranges' ? ['--at', 'k/33'] : []));
    await rolledOut(cluster);
    const goOn = async ({ keys: before, cursor }: Listed): Promise<void> => {
      const seen = before.map(({ key }) => key);
      for (let rest = cursor; rest !== null; ) {
        const more = await page(rest, 40);
        seen.push(...more.keys.map(({ key }) => key));
        rest = more.cursor;
      }
      expect(seen.toSorted()).toEqual(keys);
    };
    for (const one of begun) await goOn(one);
    const between = await Promise.all([3, 110, 160, 222].map((limit) => page(null, limit)));
    const [a = 0, b = 0] = await live(cluster);
    await cluster.commit('merge', String(a), String(b));
    await rolledOut(cluster);
    // The cursors from before the split are two changes old now.
    for (const one of [...between, ...begun]) await goOn(one);
    isOver = true;
    await scanning;
  },
);
