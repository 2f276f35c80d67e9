// Two repositories publish different rings as one version to different servers: both sides raise an
// alarm that survives restarts, nothing is dropped, and one command ends the fork.
import fs from 'node:fs/promises';
import path from 'node:path';
import { waitFor } from '@ringwright/node/wait-for';
import { expect, test } from 'vitest';
import { askServer } from '../support/ask-server.ts';
import { clusterForTest, keyspace } from '../support/cluster.ts';
import { ringBuilderIn } from '../support/ring-builder-program.ts';
import type { ServerUnderTest } from '../support/server-under-test.ts';

/** About twenty processes start one after another, on a machine that may be busy. */
const limit = { timeout: 180_000 };

interface ServersAnswer {
  readonly current: number;
  readonly servers: { readonly why: string; readonly fork: { version: number } | null }[];
}

async function forkOf(server: ServerUnderTest) {
  return (await server.status()).rings[0]?.fork ?? null;
}

test(
  'every server reports a fork from the first contact until an operator settles it',
  limit,
  async () => {
    const cluster = await clusterForTest({ servers: 3, partitions: 4 });
    const [first, second, third] = cluster.servers as [
      ServerUnderTest,
      ServerUnderTest,
      ServerUnderTest,
    ];
    await Promise.all(cluster.servers.map((server) => server.ready()));
    const folder = path.join(cluster.folder, 'twin');
    await fs.cp(cluster.rings, path.join(folder, 'rings'), { recursive: true });
    const twin = await ringBuilderIn(folder);

    // Each operator commits a version 2 that reaches only some of the servers.
    await third.kill();
    await cluster.commit('set-device', 'd0', '--meta', 'ours');
    expect((await cluster.builder.run(`push ${keyspace}`)).exit).toBe(4);
    await Promise.all([first.kill(), second.kill()]);
    await cluster.restart(third);
    await twin.json(['set-device', keyspace, 'd0', '--meta', 'theirs']);
    await twin.json(['commit', keyspace, '-m', 'theirs']);
    expect((await twin.run(`push ${keyspace}`)).exit).toBe(4);
    expect(await forkOf(third)).toBeNull();

    // The servers connect, and each of them sees both lines.
    await Promise.all([cluster.restart(first), cluster.restart(second)]);
    const write = { method: 'PUT', body: 'x' } as const;
    for (const server of cluster.servers) {
      await waitFor(`${server.place.device} to raise the alarm`, {
        ask: async () => {
          await askServer(server.place.port, {
            ...write,
            path: `/v1/${keyspace}/k${server.place.zone}`,
          });
          return forkOf(server);
        },
        until: (fork) => fork?.version === 2 && fork.settled === null,
      });
    }
    const metrics = await askServer(first.place.port, { path: '/metrics' });
    expect(metrics.bytes.toString()).toContain(`ringwright_ring_fork{ring="${keyspace}"} 1`);
    expect(third.logText()).toContain('FORK: two rings have the same version');
    const seen = await cluster.builder.answer<ServersAnswer>(`servers ${keyspace}`);
    expect(seen.exit).toBe(1);
    for (const { why } of seen.document.servers) expect(why).toContain('FORK: version 2');
    expect((await cluster.builder.run(`servers ${keyspace}`)).stdout).toContain('settle');
    const { exit, stdout } = await cluster.builder.run('health');
    expect([exit, stdout]).toEqual([1, expect.stringContaining(`settle ${keyspace} -m REASON`)]);

    // The alarm survives a restart, and another push does not end it.
    await third.stop();
    await cluster.restart(third);
    expect(await forkOf(third)).toMatchObject({ version: 2, settled: null });
    const again = await cluster.builder.run(`push ${keyspace} --keep-going --json`);
    expect(again.exit).toBe(5);

    const unsure = await cluster.builder.run(`settle ${keyspace} -m ours --json`);
    expect([unsure.exit, JSON.parse(unsure.stderr).code]).toEqual([5, 'CONFIRMATION_NEEDED']);
    const word = ['settle', keyspace, '-m', 'ours was reviewed', '--yes'];
    expect(await cluster.builder.json(word)).toMatchObject({ settled: 3, quiet: 0 });
    const after = await cluster.builder.json<ServersAnswer>(`servers ${keyspace}`);
    expect(after.current).toBe(3);
    for (const { why } of after.servers) expect(why).toBe('');
    expect(await forkOf(third)).toMatchObject({ settled: { reason: 'ours was reviewed' } });

    // Every command tells the other operator how to continue. The operator restores the settled
    // history and commits on top of it.
    const lost = await twin.run(`push ${keyspace} --json`);
    expect([lost.exit, lost.stdout]).toEqual([5, expect.stringContaining('RING_FORK_SETTLED')]);
    for (const args of [`push ${keyspace}`, `servers ${keyspace}`, 'health']) {
      const said = (await twin.run(args)).stdout;
      expect(said, args).toMatch(/Next: ring-builder restore \w+ --from [\d.:]+ --replace\n$/);
      expect(said, args).not.toContain('settle ');
    }
    const from = `127.0.0.1:${first.place.port}`;
    const taken = await twin.json<{ kept: string }>(`restore ${keyspace} --from ${from} --replace`);
    const before = await twin.json<{ entries: { message: string }[] }>(
      `log ${keyspace} --rings ${taken.kept}`,
    );
    expect(before.entries.map(({ message }) => message)).toContain('theirs');
    await twin.json(['set-device', keyspace, 'd0', '--meta', 'theirs, again']);
    await twin.json(['commit', keyspace, '-m', 'again']);
    expect((await twin.run(`push ${keyspace}`)).exit).toBe(0);

    // A history that diverges here and is far ahead: its rings name their ancestors.
    const far = path.join(cluster.folder, 'far');
    await fs.cp(path.join(folder, 'rings'), path.join(far, 'rings'), { recursive: true });
    const ahead = await ringBuilderIn(far);
    const commit = async (tool: typeof twin, meta: string): Promise<void> => {
      await tool.json(['set-device', keyspace, 'd0', '--meta', meta]);
      await tool.json(['commit', keyspace, '-m', meta]);
    };
    await third.kill();
    await commit(twin, 'one more');
    expect((await twin.run(`push ${keyspace}`)).exit).toBe(4);
    await Promise.all([first.kill(), second.kill()]);
    await cluster.restart(third);
    for (const meta of ['a', 'b', 'c']) await commit(ahead, meta);
    expect((await ahead.run(`push ${keyspace}`)).exit).toBe(4);
    await Promise.all([cluster.restart(first), cluster.restart(second)]);
    for (const server of cluster.servers) {
      await waitFor(`${server.place.device} to see the line that is far ahead`, {
        ask: () => forkOf(server),
        until: (fork) => fork?.settled === null,
      });
    }
    const versions = async () =>
      Promise.all(
        cluster.servers.map(async (server) => (await server.status()).rings[0]?.version ?? 0),
      );
    const [ours, theirs] = [await versions(), (await third.status()).rings[0]?.version ?? 0];
    expect(ours, 'nobody takes it from the one that did').toEqual([theirs - 2, theirs - 2, theirs]);
    const told = await twin.run('health');
    expect([told.exit, told.stdout]).toEqual([1, expect.stringContaining('ahead of this')]);
    expect(told.stdout, 'not before it is known which is right').not.toContain('older than the');
    expect(told.stdout).toMatch(/Next: ring-builder settle \w+ -m REASON\n$/);
    expect(await ahead.json(['settle', keyspace, '-m', 'it is ahead', '--yes'])).toMatchObject({
      settled: 3,
      quiet: 0,
    });
    expect(await versions()).toEqual([theirs, theirs, theirs]);
  },
);
