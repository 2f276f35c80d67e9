// Real servers with --trust and the real tool with keys: signing, change guard, rotation, relaying.
import fs from 'node:fs/promises';
import path from 'node:path';
import { waitFor } from '@ringwright/node/wait-for';
import { readVersion } from '@ringwright/repository/folder/read-version';
import type { ServerStatus } from '@ringwright/server/status/status';
import { expect, test } from 'vitest';
import { askServer } from '../support/ask-server.ts';
import { type Cluster, clusterForTest, keyspace } from '../support/cluster.ts';
import { type RingBuilder, ringBuilderIn } from '../support/ring-builder-program.ts';
import { signingFolder } from '../support/signing-folder.ts';

/** Test options: forty commands and four servers need the time. */
const slow = { timeout: 180_000 };

interface PushAnswer {
  readonly accepted: number;
  readonly servers: { readonly outcome: string; readonly code?: string }[];
}

async function statusOf(cluster: Cluster, server: number): Promise<ServerStatus> {
  const port = cluster.servers[server]?.place.port ?? 0;
  const { bytes } = await askServer(port, { path: '/v1/status' });
  return JSON.parse(bytes.toString()) as ServerStatus;
}

/** Starts a folder in which signing is on, and three servers that accept only signed rings. */
async function trustingCluster(): Promise<Cluster> {
  const { folder, root } = await signingFolder();
  const trusts = [path.join(folder, 'rings', 'trust.json'), root];
  let started = 0;
  return clusterForTest({
    servers: 3,
    partitions: 8,
    folder,
    // Every second server is started with the id only: the push brings the document.
    extra: () => ['--trust', trusts[(started += 1) % 2] ?? ''],
  });
}

test('only signed rings are accepted, even after a missed key rotation', slow, async () => {
  const cluster = await trustingCluster();
  const { builder } = cluster;
  const { rings: active } = await statusOf(cluster, 0);
  expect(active).toMatchObject([{ ring: keyspace, epoch: 1, freshness: { state: 'fresh' } }]);

  const unsigned = await unsignedTwin(cluster);
  const forged = await unsigned.run(`push ${keyspace} --json`);
  expect(forged.exit).toBe(5);
  const { accepted, servers } = JSON.parse(forged.stdout) as PushAnswer;
  expect([accepted, servers.map(({ code }) => code)]).toEqual([
    0,
    Array(3).fill('SIGNATURES_MISSING'),
  ]);

  const bob = await builder.json<{ line: string }>('key generate bob --role ring');
  const rotated = await builder.json(['key', 'trust', '--add', bob.line]);
  expect(rotated).toMatchObject({ inForce: true, root: { version: 2 } });
  const joiner = await cluster.addServer();
  await cluster.commit('add', joiner.text, '1');
  await builder.json(`rollout ${keyspace}`);
  await cluster.push();
  expect((await statusOf(cluster, 3)).trust).toMatchObject([{ version: 2 }]);

  await builder.json(`set-weight ${keyspace} d0 10000`);
  const large = await builder.json(`commit ${keyspace} -m typo`);
  expect(large).toMatchObject({ signed: true, signers: ['ada'], signaturesMissing: 1 });
  const early = await builder.run(`push ${keyspace} --json`);
  expect([early.exit, JSON.parse(early.stderr).code]).toEqual([5, 'SIGNATURES_MISSING']);
  const reverted = await builder.json([
    ...['revert', keyspace, '@~1', '-m', 'weight 10000 was a typo'],
    ...['--override', 'back to what the servers have'],
  ]);
  expect(reverted).toMatchObject({ signed: true, signaturesMissing: 0 });
  await builder.json(`push ${keyspace}`);

  const sleeper = cluster.servers[1];
  if (sleeper === undefined) throw new Error('no second server');
  await sleeper.kill();
  await builder.json('key revoke ada');
  const again = await builder.json(`sign ${keyspace} --sign-as bob`);
  expect(again).toMatchObject({ signers: ['bob'], missing: 0, changed: true });
  await cluster.commit('set-device', 'd0', '--meta', 'signed by bob alone');
  expect((await builder.run(`push ${keyspace}`)).exit).toBe(4);
  await cluster.restart(sleeper);
  const { version } = await cluster.head();
  await waitFor('the sleeper to have walked to root 3 and its ring', {
    ask: () => statusOf(cluster, 1),
    until: ({ rings, trust }) => rings[0]?.version === version && trust?.[0]?.version === 3,
  });
  const beacon = await builder.json(`beacon ${keyspace} --minutes 5`);
  expect(beacon).toMatchObject({ version, minutes: 5 });
  expect((await statusOf(cluster, 1)).rings[0]?.freshness).toMatchObject({
    state: 'fresh',
    version,
  });
  expect(await builder.json(`verify ${keyspace}`)).toMatchObject({
    ok: true,
    signed: true,
    waiting: 0,
  });
  await restoreAnew(cluster, unsigned);
});

/** Everything is lost except the servers and a note of the id of a root. */
async function restoreAnew(cluster: Cluster, unsigned: RingBuilder): Promise<void> {
  const { builder } = cluster;
  const from = `ws://${cluster.servers[1]?.address}`;
  const restore = ['restore', keyspace, '--from', from, '--rings', 'anew'];
  const refusal = async (args: readonly string[], tool = builder): Promise<string> => {
    const { stderr } = await tool.run([...args, '--json']);
    return (JSON.parse(stderr) as { code: string }).code;
  };
  expect(await refusal([...restore, '--trust', '0'.repeat(64)])).toBe('TRUST_UNKNOWN');
  const { id } = await builder.json<{ id: string }>('key trust');
  const restored = await builder.json([...restore, '--trust', id]);
  expect(restored).toMatchObject({ ring: keyspace, signers: ['bob'] });
  const [kept, anew] = await Promise.all(
    [cluster.rings, path.join(cluster.folder, 'anew')].map((rings) =>
      readVersion(rings, keyspace, 'head'),
    ),
  );
  expect(anew?.bytes).toEqual(kept?.bytes);
  expect(anew?.state).toEqual(kept?.state);
  expect(await builder.json(['verify', keyspace, '--trust', id, '--rings', 'anew'])).toMatchObject({
    ok: true,
    signed: true,
  });
  const twin = path.join(unsigned.folder, 'rings', keyspace, 'versions', '0000002.ring');
  await fs.rm(path.join(cluster.folder, 'anew', keyspace), { recursive: true });
  const forged = ['restore', '--from', twin, '--rings', 'anew'];
  expect(await refusal(forged)).toBe('SIGNATURES_MISSING');
}

/** Creates the same ring in a folder without trust, as anybody could. */
async function unsignedTwin(cluster: Cluster) {
  const folder = path.join(cluster.folder, 'twin');
  await fs.mkdir(folder);
  const tool = await ringBuilderIn(folder);
  await tool.json(`create ${keyspace} --partitions 8 --replicas 3`);
  const devices = cluster.servers.flatMap(({ text }) => [text, '1']);
  await tool.json(['add', keyspace, ...devices]);
  const first = await tool.run(`commit ${keyspace} -m twin --json`);
  expect(JSON.parse(first.stdout)).toMatchObject({ signed: false });
  expect(first.stderr).toContain('UNSIGNED');
  await tool.json(`set-device ${keyspace} d0 --meta x`);
  await tool.json(`commit ${keyspace} -m higher`);
  return tool;
}
