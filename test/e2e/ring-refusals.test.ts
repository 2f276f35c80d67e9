// Rings that servers must refuse, each from a repository of its own: `ring-builder servers` shows
// every refusal, and the active ring stays in use.
import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { askServer } from '../support/ask-server.ts';
import { type Cluster, endCluster, keyspace, startCluster } from '../support/cluster.ts';
import { type RingBuilder, ringBuilderIn } from '../support/ring-builder-program.ts';

interface PushAnswer {
  readonly accepted: number;
  readonly refused: number;
  readonly servers: { readonly outcome: string; readonly code: string; readonly message: string }[];
}

interface ServersAnswer {
  readonly current: number;
  readonly servers: { readonly why: string; readonly refusal: string }[];
}

let cluster: Cluster;
/** Active version of the cluster. */
let head = 1;
beforeAll(async () => {
  cluster = await startCluster({ servers: 3, partitions: 8 });
  await fs.cp(cluster.rings, path.join(cluster.folder, 'twin/rings'), { recursive: true });
  const [port = 0] = cluster.ports();
  await askServer(port, { method: 'PUT', path: `/v1/${keyspace}/kept`, body: 'kept' });
});
afterAll(() => endCluster(cluster));

/** Creates a separate repository with this many versions, for the same servers. */
async function repository(name: string, options: readonly string[], versions: number) {
  const folder = path.join(cluster.folder, name);
  await fs.mkdir(folder, { recursive: true });
  const builder = await ringBuilderIn(folder);
  const settings = ['--replicas', '3', '--min-part-hours', '0', ...options];
  await builder.json(['create', keyspace, ...settings]);
  const devices = cluster.servers.flatMap(({ text }) => [text, '1']);
  await builder.json(['add', keyspace, ...devices]);
  await builder.json(['commit', keyspace, '-m', 'version 1']);
  for (let version = 2; version <= versions; version += 1) await anotherVersion(builder);
  return builder;
}

let changes = 0;
async function anotherVersion(builder: RingBuilder): Promise<void> {
  await builder.json(['set-device', keyspace, 'd0', '--meta', `change ${(changes += 1)}`]);
  expect(await builder.json(['commit', keyspace, '-m', 'one'])).toMatchObject({ changed: true });
}

/** Pushes, and expects that every server refuses with the code and reports it afterwards. */
async function expectRefused(builder: RingBuilder, code: string, version: string[] = []) {
  const { exit, stdout } = await builder.run(['push', keyspace, ...version, '--json']);
  const answer = JSON.parse(stdout) as PushAnswer;
  expect(answer).toMatchObject({ accepted: 0, refused: 3 });
  expect(exit).toBe(5);
  for (const server of answer.servers) expect(server).toMatchObject({ outcome: 'refused', code });
  const seen = await builder.run(['servers', keyspace]);
  // An older version is not reported where a newer one is active.
  expect(seen.stdout.split(`refused ${code}`)).toHaveLength(code === 'RING_OLDER' ? 1 : 4);
  const { rings } = await cluster.servers[0]!.status();
  expect(rings[0]).toMatchObject({ version: head, notReady: 0 });
  const kept = await askServer(cluster.ports()[2] ?? 0, { path: `/v1/${keyspace}/kept` });
  expect(kept.bytes.toString()).toBe('kept');
  return { message: answer.servers[0]?.message ?? '', seen: seen.stdout };
}

test('a ring of another cluster is refused', async () => {
  const other = await repository('other', ['--partitions', '8', '--cluster', 'other'], 2);
  const { message } = await expectRefused(other, 'RING_FOREIGN');
  expect(message).toMatch(/'other'.*'default'/);
});

test('a ring with another partition count is refused', async () => {
  const finer = await repository('finer', ['--partitions', '16'], 2);
  const { message } = await expectRefused(finer, 'RING_FOREIGN');
  expect(message).toMatch(/16 partitions.* 8|power":4.*power":3/);
});

test('a ring with another partitioner is refused', async () => {
  const murmur = ['--partitioner', 'murmur3-mod', '--partitions', '8'];
  await expectRefused(await repository('murmur', murmur, 2), 'RING_FOREIGN');
});

test('an older version is refused with both numbers', async () => {
  await cluster.commit('set-device', 'd0', '--meta', 'of this folder');
  await cluster.push();
  head = 2;
  const { message, seen } = await expectRefused(cluster.builder, 'RING_OLDER', ['1']);
  expect(message).toMatch(/version 1 .*2 is the highest/);
  expect(seen).not.toContain('RING_OLDER');
});

test('an old copy of the folder is told to restore, not to repeat a refused command', async () => {
  const folder = path.join(cluster.folder, 'old');
  await fs.cp(path.join(cluster.folder, 'twin'), folder, { recursive: true });
  const old = await ringBuilderIn(folder);
  const restore = new RegExp(`Next: ring-builder restore ${keyspace} --from 127[^ ]+ --replace`);
  for (const verb of ['health', `servers ${keyspace}`, `push ${keyspace}`]) {
    expect((await old.run(verb)).stdout).toMatch(restore);
  }
  const rollout = await old.run(`rollout ${keyspace} --stall-timeout 3600 --json`);
  expect([rollout.exit, lastLine(rollout.stderr)]).toMatchObject([5, { code: 'RING_OLDER' }]);
  expect(rollout.stderr).not.toContain('remove');
  const settled = await old.run(`settle ${keyspace} -m old --yes`);
  expect([settled.exit, settled.stdout]).toEqual([5, '']);
  expect(settled.stderr).toContain(
    ' 3 servers have up to version 2: servers never go back to a lower version',
  );
  expect(settled.stderr).toMatch(
    /restore .* --replace .*until there is a version 2 too, then settle/,
  );
  expect((await cluster.builder.run('health')).exit).toBe(0);
});

/** Returns the error, which follows the lines of progress. */
function lastLine(stderr: string): unknown {
  return JSON.parse(stderr.trim().split('\n').at(-1) ?? '');
}

const forkWhy = expect.stringMatching(/^FORK: version 2 is also [0-9a-f]{12}$/) as string;

test('another second version, committed in a copy of the repository, is a fork', async () => {
  const twin = await ringBuilderIn(path.join(cluster.folder, 'twin'));
  await anotherVersion(twin);
  const { seen } = await expectRefused(twin, 'RING_FORK');
  expect(seen).toMatch(/another ring with this version, FORK: version 2 .*; refused RING_FORK/);
  const settle = `ring-builder settle ${keyspace} --rings RIGHT -m REASON`;
  // No server has this history, so it is most likely the wrong one.
  for (const command of ['health', `push ${keyspace}`]) {
    const { stdout } = await twin.run(command);
    expect(stdout, command).toContain(settle);
    expect(stdout, command).toMatch(/^Next: ring-builder restore \w+ --from [\d.:]+ --replace$/m);
  }
  const rollout = await twin.run(`rollout ${keyspace} --stall-timeout 3600 --json`);
  const said = { code: 'RING_FORK', hint: expect.stringContaining(settle) as string };
  expect([rollout.exit, lastLine(rollout.stderr)]).toMatchObject([5, said]);
});

test('a fork is detected one version later, because its parent is unknown', async () => {
  const twin = await ringBuilderIn(path.join(cluster.folder, 'twin'));
  await anotherVersion(twin);
  const { message } = await expectRefused(twin, 'RING_FORK');
  expect(message).toMatch(/version 3 follows/);
});

test('the next version is accepted despite the refusals, and the fork can be settled', async () => {
  await cluster.commit('set-device', 'd1', '--meta', 'next');
  await cluster.push();
  const told = await cluster.builder.answer<ServersAnswer>(['servers', keyspace]);
  expect(told.exit).toBe(1);
  for (const { why, refusal } of told.document.servers)
    expect([why, refusal]).toEqual([forkWhy, '']);
  await cluster.builder.json(['settle', keyspace, '-m', 'the twin was a test', '--yes']);
  const seen = await cluster.builder.json<ServersAnswer>(['servers', keyspace]);
  expect(seen.current).toBe(3);
  expect(seen.servers.map(({ why, refusal }) => why + refusal)).toEqual(['', '', '']);
});
