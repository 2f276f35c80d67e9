// A data directory can be inspected: through its server while that runs, and without changing a
// file while no server runs.
import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { auditFolder, listAuditFiles } from '@ringwright/server/audit/audit-files';
import { expect, test } from 'vitest';
import { askServer } from '../support/ask-server.ts';
import { clusterForTest, keyspace } from '../support/cluster.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { serverProgram } from '../support/server-under-test.ts';

interface Inspected {
  readonly server: string | null;
  readonly logBytes: number;
  readonly rings?: readonly Record<string, unknown>[];
  readonly partitions?: readonly { partition: number; rows: number }[];
  readonly newest?: readonly { key: string; valueBytes: number | null; time: string }[];
}

type Ended = Promise<{ exit: number; stdout: string; stderr: string }>;

/** Runs in a process of its own, while the servers of the test keep running. */
function ringServer(...args: string[]): Ended {
  return new Promise((resolve) => {
    execFile(process.execPath, [serverProgram, ...args], (error, stdout, stderr) => {
      resolve({ exit: Number(error?.code ?? 0), stdout, stderr });
    });
  });
}

const run = (...args: string[]): Ended => ringServer('inspect', ...args);

async function inspected(...args: string[]): Promise<Inspected> {
  const { exit, stdout, stderr } = await run(...args, '--json');
  expect(exit, stderr).toBe(0);
  return JSON.parse(stdout) as Inspected;
}

/** Returns every file with its size and modification time. */
async function filesOf(folder: string): Promise<string[]> {
  const entries = await fs.readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const all = files.map(async ({ parentPath, name }) => {
    const { size, mtimeMs } = await fs.stat(path.join(parentPath, name));
    return `${path.join(parentPath, name)} ${size} ${mtimeMs}`;
  });
  return (await Promise.all(all)).sort();
}

test('inspect works on a running, crashed and stopped server', { timeout: 120_000 }, async () => {
  const cluster = await clusterForTest({ servers: 1, partitions: 2, replicas: 1 });
  const server = cluster.servers[0]!;
  const { data, port } = server.place;
  const names = Array.from({ length: 120 }, (_, number) => `key-${number}`);
  const lookup = await cluster.builder.json<{ keys: { key: string; partition: number }[] }>([
    ...['lookup', keyspace, ...names],
  ]);
  const keys = names.filter((_, at) => lookup.keys[at]?.partition === 0).slice(0, 30);
  expect(keys).toHaveLength(30);
  const ask = (method: 'PUT' | 'DELETE', key: string, body = '') =>
    askServer(port, { method, path: `/v1/${keyspace}/${key}`, ...(body !== '' && { body }) });
  for (const key of keys) await ask('PUT', key, 'four');
  await ask('DELETE', keys[3]!);
  const counts = { partitions: 2, filling: 0, damaged: 0, rows: 29, tombstones: 1, bytes: 116 };

  const beside = await inspected(data);
  expect(beside).toMatchObject({ server: server.address, rings: [{ ring: keyspace, ...counts }] });
  const one = await inspected(data, keyspace, '0');
  expect(one.newest).toHaveLength(20);
  expect(one.newest?.slice(0, 2)).toMatchObject([
    { key: keys[3], valueBytes: null },
    { key: keys[29], valueBytes: 4 },
  ]);
  expect(Math.abs(Date.parse(one.newest?.[0]?.time ?? '') - Date.now())).toBeLessThan(600_000);
  const printed = await run(data, keyspace);
  expect(printed.stdout).toMatch(/PARTITION +STATE +RECORDS +DELETIONS +BYTES\n +0 +ready +29 +1/);
  expect(printed.stdout).toContain(`Next: ring-server inspect ${data} ${keyspace} 0`);

  await server.kill();
  const crashed = await filesOf(data);
  const after = await inspected(data);
  expect(after.server).toBeNull();
  expect(after.logBytes).toBeGreaterThan(0);
  expect(after.rings).toMatchObject([{ partitions: 2, damaged: 0 }]);
  expect((await run(data)).stdout).toContain('which the next start replays');
  expect(await filesOf(data), 'not a byte is changed').toEqual(crashed);

  await cluster.restart(server);
  expect(await server.stop()).toBe(0);
  const resting = await filesOf(data);
  expect(await inspected(data)).toMatchObject({ server: null, logBytes: 0, rings: [counts] });
  expect((await inspected(data, keyspace, '0')).newest).toEqual(one.newest);
  expect(await filesOf(data)).toEqual(resting);
  await cluster.restart(server);
});

test('check finds an edited audit log, and reports an intact directory as sound', async () => {
  const cluster = await clusterForTest({ servers: 1, partitions: 2, replicas: 1 });
  const server = cluster.servers[0]!;
  const { data } = server.place;
  expect(await server.stop()).toBe(0);
  expect(await ringServer('check', data)).toMatchObject({
    exit: 0,
    stdout: expect.stringContaining('is intact'),
  });
  const [file = ''] = await listAuditFiles(auditFolder(data));
  const text = await fs.readFile(file, 'utf8');
  const [first = '', second = '', ...others] = text.split('\n');

  const altered = first.replace(/"who":"/, '"who":"x');
  for (const lines of [
    [altered, second, ...others],
    [first, ...others],
  ]) {
    const edited = lines.join('\n');
    expect(edited).not.toBe(text);
    await fs.writeFile(file, edited);
    const { exit, stdout } = await ringServer('check', data, '--json');
    const findings = [expect.objectContaining({ code: 'AUDIT_LOG_BROKEN' })];
    expect(JSON.parse(stdout)).toMatchObject({ findings });
    expect(exit).toBe(1);
  }
  await fs.writeFile(file, text);
  await cluster.restart(server);
});

test('inspect refuses unknown rings and partitions, and names what exists', async () => {
  await using folder = await scratchFolder();
  const cluster = await clusterForTest({ servers: 1, partitions: 2, replicas: 1 });
  const server = cluster.servers[0]!;
  const { data } = server.place;
  for (const isRunning of [true, false]) {
    if (!isRunning) await server.stop();
    const unknown = await run(data, 'nope');
    expect(unknown.stderr).toMatch(new RegExp(`RING_UNKNOWN.*\n.*${keyspace}`));
    expect(unknown.exit).toBe(2);
    expect(await run(data, keyspace, '7')).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('PARTITION_ABSENT'),
    });
  }
  for (const args of [[], [folder.path], [data, keyspace, 'x'], [data, '--dance']]) {
    const { exit, stderr } = await run(...args);
    expect(stderr).toContain('ring-server inspect DIR [RING [PARTITION]]');
    expect(exit).toBe(2);
  }
  await cluster.restart(server);
});
