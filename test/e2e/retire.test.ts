// Ranges of keys are retired while servers die: their records are gone everywhere, all others stay,
// late keys have a partition, and nothing is retired without a recorded reason.
import { connect } from '@ringwright/client/connect';
import { expect, test } from 'vitest';
import { clusterForTest, keyspace } from '../support/cluster.ts';
import { killRolloutAt } from '../support/killed-rollout.ts';

interface Planned {
  readonly warnings: readonly { readonly message: string }[];
  readonly givenUp: { readonly partitions: readonly number[]; readonly bytes: number };
}

interface Trash {
  readonly items: readonly { readonly name: string; readonly restorable: boolean }[];
}

const days = Array.from(
  { length: 40 },
  (_, index) => `2026-${10 + Math.floor(index / 10)}-${index}`,
);
const partitioner = ['--partitioner', 'ranges', '--boundaries', '2026-11,2026-12'];

test('two months of ranges are retired while servers die', { timeout: 60_000 }, async () => {
  const cluster = await clusterForTest({ servers: 3, partitioner });
  const { builder, servers } = cluster;
  await using client = await connect(
    servers.map(({ address }) => address),
    { keyspace },
  );
  for (const day of days) await client.put(day, day);
  const left = async (): Promise<string[]> => {
    const seen: string[] = [];
    for await (const { key } of client.scan()) seen.push(Buffer.from(key).toString());
    return seen;
  };
  await builder.json(['retire', keyspace, '--before', '2026-12-05']);
  const plan = await builder.json<Planned>(['plan', keyspace]);
  expect(plan.givenUp.partitions).toEqual([0, 1]);
  expect(plan.givenUp.bytes).toBeGreaterThan(0);
  expect(plan.warnings.map(({ message }) => message).toSorted()).toEqual([
    expect.stringContaining('2 partitions are retired with their records'),
    'partition 3 […, 2026-12) begins empty: what 0, 1 hold is moved to the trash',
  ]);
  const refused = await builder.run(['commit', keyspace, '-m', 'the past']);
  expect([refused.exit, refused.stderr]).toEqual([
    5,
    expect.stringContaining('2 partitions are retired with their records'),
  ]);
  expect(await left()).toEqual(days);
  await cluster.quickly(['commit', keyspace, '-m', 'the past', '--override', 'over']);
  const { version } = await cluster.head();
  await killRolloutAt(cluster, cluster.committed(version + 1));
  await client.put('2026-10-late', 'goes with the others');
  for (const server of servers.slice(0, 2)) await server.kill();
  for (const server of servers.slice(0, 2)) await cluster.restart(server);
  expect(await builder.json(['rollout', keyspace])).toMatchObject({ end: 'done', left: [] });
  expect(await left()).toEqual(days.slice(20));
  expect(await client.get(days[3]!, { consistency: 'all' })).toBeNull();
  await client.put(days[3]!, 'late', { consistency: 'all' });
  expect(await left()).toEqual([days[3], ...days.slice(20)]);
  expect(await builder.json(['reconcile', keyspace])).toMatchObject({ findings: [] });
  expect(await builder.json(['verify', keyspace])).toMatchObject({ findings: [] });
  // Retired partitions in the trash are shown as gone, and no command suggests restoring them.
  const { stdout } = await builder.run(['trash', keyspace, 'list']);
  expect(stdout).toMatch(/\n0 gone .*\n/);
  expect(stdout).not.toContain(`trash ${keyspace} restore`);
  const { items } = await builder.json<Trash>(['trash', keyspace, 'list']);
  const gone = items.find(({ restorable }) => !restorable)?.name ?? '';
  const { exit, stderr } = await builder.run(['trash', keyspace, 'restore', gone, '--json']);
  expect(exit).toBe(2);
  expect(JSON.parse(stderr)).toMatchObject({
    code: 'TRASH_RETIRED',
    message: expect.stringContaining('was split, merged or retired'),
  });
});
