// Files are deleted or replaced under live servers: nothing is acknowledged on them, reconcile
// detects it, and they are rewritten, or refilled from the other holders.
import fs from 'node:fs/promises';
import path from 'node:path';
import { waitFor } from '@ringwright/node/wait-for';
import { expect, test } from 'vitest';
import { checkData } from '../../tools/ring-server/check-data.ts';
import { askServer } from '../support/ask-server.ts';
import { type Cluster, clusterForTest, keyspace } from '../support/cluster.ts';
import type { ServerUnderTest } from '../support/server-under-test.ts';

interface Reconciled {
  readonly slots: number;
  readonly complete: number;
  readonly findings: readonly { kind: string; partition: number; why: string; command: string }[];
}

const partitionPath = (data: string, partition: number): string =>
  path.join(data, 'partitions', keyspace, String(partition));

async function reconcile(cluster: Cluster): Promise<Reconciled & { readonly exit: number | null }> {
  const { exit, stdout } = await cluster.builder.run(['reconcile', keyspace, '--json']);
  return { ...(JSON.parse(stdout) as Reconciled), exit };
}

async function deleteFile(server: ServerUnderTest, partition: number): Promise<void> {
  const home = partitionPath(server.place.data, partition);
  const [incarnation = ''] = (await fs.readdir(home)).filter((name) => name !== 'CURRENT');
  await fs.rm(path.join(home, incarnation, 'data.db'));
}

/** Writes enough keys that every partition has some, and thus a file. */
async function fillAll(server: ServerUnderTest): Promise<void> {
  for (const each of Array(64).keys()) {
    const put = { method: 'PUT', path: `/v1/${keyspace}/of-all-${each}`, body: 'x' } as const;
    expect((await askServer(server.place.port, put)).status).toBe(204);
  }
}

/**
 * Puts another file, with another inode, in the place of a partition file, whose contents are lost.
 */
async function loseFile(server: ServerUnderTest, partition: number): Promise<void> {
  const home = partitionPath(server.place.data, partition);
  const [incarnation = ''] = (await fs.readdir(home)).filter((name) => name !== 'CURRENT');
  const other = path.join(home, 'other');
  await fs.writeFile(other, 'no database');
  await fs.rename(other, path.join(home, incarnation, 'data.db'));
}

test('a file replaced under a live server is refilled', { timeout: 120_000 }, async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 8 });
  const [first, second, third] = cluster.servers;
  const path0 = `/v1/${keyspace}/kept`;
  const put = { method: 'PUT', path: `${path0}?consistency=all`, body: 'kept' } as const;
  expect((await askServer(first!.place.port, put)).status).toBe(204);
  await fillAll(first!);
  expect(await reconcile(cluster)).toMatchObject({ exit: 0, slots: 24, complete: 24 });
  const lookup = await cluster.builder.json<{ keys: readonly { partition: number }[] }>([
    ...['lookup', keyspace, 'kept'],
  ]);
  const partition = lookup.keys[0]?.partition ?? -1;

  // While no other holder can provide a copy, the file stays lost.
  for (const other of [second, third]) await other!.kill();
  await loseFile(first!, partition);
  const alone = await reconcile(cluster);
  expect(alone.exit).toBe(1);
  const found = alone.findings.filter((one) => one.kind === 'damaged');
  expect(found).toMatchObject([{ partition }]);
  expect(found[0]?.why).toContain('data.db was replaced by another file');
  // health makes the servers check their files too.
  await loseFile(first!, (partition + 1) % 8);
  const health = await cluster.builder.answer<{ troubles: { kind: string; why: string }[] }>(
    'health',
  );
  const { troubles } = health.document;
  expect(health.exit).toBe(1);
  expect(troubles[0]).toMatchObject({ kind: 'damaged', address: first!.address });
  expect(troubles[0]?.why).toContain('data.db was replaced by another file');
  expect(troubles.filter(({ kind }) => kind === 'down')).toHaveLength(2);
  for (const other of [second, third]) await cluster.restart(other!);
  await waitFor('the files to be refilled', {
    ask: () => reconcile(cluster),
    until: ({ complete }) => complete === 24,
  });
  const answer = await askServer(first!.place.port, { path: `${path0}?consistency=one` });
  expect(answer.bytes.toString()).toBe('kept');
  const said = first!.logLines().map(({ msg }) => msg);
  expect(said).toContain('partition file damaged');
  expect(said).toContain('damaged file replaced by an empty one, which refills');
  expect(said).toContain('partition refilled: it is complete');
  // The folders of the lost files, including the WAL, are in the trash.
  expect((await fs.readdir(path.join(first!.place.data, 'trash'))).length).toBe(2);
});

test('a refill that lacks sources says so and can be forced', { timeout: 120_000 }, async () => {
  const cluster = await clusterForTest({ servers: 3, partitions: 8 });
  const [first, second, third] = cluster.servers;
  const key = `/v1/${keyspace}/kept`;
  const put = { method: 'PUT', path: `${key}?consistency=all`, body: 'kept' } as const;
  expect((await askServer(first!.place.port, put)).status).toBe(204);
  await first!.kill();
  await second!.kill();
  await fs.rm(second!.place.data, { recursive: true });
  await cluster.restart(second!);
  const stuck = await waitFor('the wiped device to need what nobody has', {
    ask: () => reconcile(cluster),
    until: ({ findings }) => findings.some(({ why }) => why.includes('cannot refill')),
  });
  const { partition, command } = stuck.findings.find(({ why }) => why.includes('cannot refill'))!;
  expect(command).toBe(`ring-builder moves ${keyspace} force ${partition} --reason TEXT --yes`);
  const force = ['moves', keyspace, 'force', 'all', '--reason', 'd0 burnt'];
  const forced = await cluster.builder.run([...force, '--yes', '--json']);
  expect(JSON.parse(forced.stdout), forced.stderr).toMatchObject({ known: stuck.findings.length });
  const { rings } = await waitFor('the wiped device to serve', {
    ask: () => second!.status(),
    until: (status) => status.rings[0]?.notReady === 0,
  });
  expect(rings[0]?.rows).toBe(1);
  const read = await askServer(third!.place.port, { path: `${key}?consistency=quorum` });
  expect(read.bytes.toString(), String(read.status)).toBe('kept');
  await cluster.restart(first!);
  const none = await cluster.builder.run([...force, '--yes', '--json']);
  expect(JSON.parse(none.stderr)).toMatchObject({ code: 'MOVE_UNKNOWN' });

  // Most partitions are empty. `held.json` names all files that the device held complete, so that a
  // folder deleted while the server is stopped is noticed.
  await first!.kill();
  for (const each of Array(8).keys()) {
    await fs.rm(partitionPath(first!.place.data, each), { recursive: true, force: true });
  }
  await fs.rm(path.join(first!.place.data, 'empty-partitions'));
  const { findings } = await checkData([first!.place.data]);
  const told = findings.filter(({ message }) => message.includes('folder deleted'));
  expect(told).toHaveLength(8);
  expect(told[0]).toMatchObject({ code: 'PARTITION_ABSENT', details: { keyspace } });
  await cluster.restart(first!);
  const sentence = 'folder deleted while no server ran: replaced by an empty one, which refills';
  await waitFor('the deleted folders to be missed, and refilled', {
    ask: () => first!.status(),
    until: ({ rings: [ring] }) => ring?.notReady === 0 && ring.serving === 8,
  });
  const missed = first!.logLines().filter(({ msg }) => msg === sentence);
  expect(missed.length).toBeGreaterThan(0);
});

/**
 * Starts three servers that all have a record. Also returns the path of its key and its partition.
 */
async function keptByAll() {
  const cluster = await clusterForTest({ servers: 3, partitions: 8 });
  const [first] = cluster.servers;
  const key = `/v1/${keyspace}/kept`;
  const put = { method: 'PUT', path: `${key}?consistency=all`, body: 'kept' } as const;
  expect((await askServer(first!.place.port, put)).status).toBe(204);
  const lookup = await cluster.builder.json<{ keys: readonly { partition: number }[] }>([
    ...['lookup', keyspace, 'kept'],
  ]);
  return { cluster, first, key, partition: lookup.keys[0]?.partition ?? -1 };
}

test('an open file that all holders delete is rewritten with all its records', {
  timeout: 120_000,
}, async () => {
  const { cluster, first, key, partition } = await keptByAll();
  for (const server of cluster.servers) await deleteFile(server, partition);
  expect((await cluster.builder.answer('health')).exit).toBe(1);
  await waitFor('all files to be whole again', {
    ask: () => reconcile(cluster),
    until: ({ complete }) => complete === 24,
  });
  for (const server of cluster.servers) {
    const read = await askServer(server.place.port, { path: key });
    expect(read.bytes.toString(), String(read.status)).toBe('kept');
    const said = server.logLines().map(({ msg }) => msg);
    expect(said).toContain('deleted file rewritten with all its records, since it was still open');
  }
  // Deleting the commit log loses no record either. `servers` reports it, not only the server's
  // log.
  const logs = path.join(first!.place.data, 'log');
  for (const name of await fs.readdir(logs)) await fs.rm(path.join(logs, name));
  const { exit, stdout } = await cluster.builder.run(['servers', keyspace, '--json']);
  const { troubles } = JSON.parse(stdout) as { troubles: readonly object[] };
  expect(exit).toBe(1);
  expect(troubles).toMatchObject([{ kind: 'log lost', address: first!.address }]);
});

test('a file that all holders lose stays incomplete until an operator forces it', async () => {
  const { cluster, key, partition } = await keptByAll();
  for (const server of cluster.servers) await loseFile(server, partition);
  expect((await cluster.builder.answer('health')).exit).toBe(1);
  const stuck = await waitFor('the holders to find each other filling', {
    ask: () => reconcile(cluster),
    until: ({ findings }) =>
      findings.filter(({ why }) => why.includes('cannot refill')).length === 3,
  });
  expect(stuck).toMatchObject({ exit: 1, slots: 24, complete: 21 });
  // By now each holder has tried to refill.
  for (const server of cluster.servers) {
    await waitFor('a refill to be refused', {
      ask: () => server.status(),
      until: ({ rings }) => JSON.stringify(rings).includes('0 of the 2 complete files needed'),
    });
  }
  for (const server of cluster.servers) {
    expect((await askServer(server.place.port, { path: key })).status).toBe(503);
  }
  const { exit, document } = await cluster.builder.answer<{ troubles: { kind: string }[] }>(
    'health',
  );
  expect(exit).toBe(1);
  expect(document.troubles.map(({ kind }) => kind)).toContain('not ready');
  const force = ['moves', keyspace, 'force', String(partition), '--reason', 'no backup', '--yes'];
  const forced = await cluster.builder.run([...force, '--json']);
  expect(JSON.parse(forced.stdout), forced.stderr).toMatchObject({ known: 3 });
  await waitFor('what there is to be served', {
    ask: () => reconcile(cluster),
    until: ({ complete }) => complete === 24,
  });
}, 120_000);
