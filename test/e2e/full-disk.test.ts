// A disk without space: writes are refused with a reason, reads continue, and writes succeed again
// once there is space.
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { waitFor } from '@ringwright/node/wait-for';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { askServer, refusalOf } from '../support/ask-server.ts';
import { clusterForTest, keyspace } from '../support/cluster.ts';
import { type ServerUnderTest, serverProgram } from '../support/server-under-test.ts';

/** Larger than the reserve of 256 MiB that a store keeps, with room for the test's own files. */
const DISK_BYTES = 400 * 2 ** 20;
const disk = fs.mkdtempSync(path.join(os.tmpdir(), 'ringwright-disk-'));
let isMounted = false;

beforeAll(() => {
  try {
    const options = ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', disk];
    execFileSync('mount', options, { stdio: 'pipe' });
    isMounted = true;
  } catch {
    console.warn('full-disk: skipped, this user may not mount a tmpfs');
  }
});
afterAll(() => {
  if (isMounted) execFileSync('umount', [disk]);
  fs.rmSync(disk, { recursive: true, force: true });
});

test('while the disk is full, writes are refused and reads are answered', async ({ skip }) => {
  if (!isMounted) skip('no mount');
  const folder = path.join(disk, 'cluster');
  const cluster = await clusterForTest({ servers: 3, partitions: 4, folder });
  const [port = 0] = cluster.ports();
  const pathOf = (key: string): string => `/v1/${keyspace}/${key}`;
  const put = (key: string, body: string) =>
    askServer(port, { method: 'PUT', path: pathOf(key), body });
  const read = async (key: string) =>
    (await askServer(port, { path: pathOf(key) })).bytes.toString();
  expect((await put('kept', 'before')).status).toBe(204);

  const ballast = path.join(disk, 'ballast');
  execFileSync('fallocate', ['-l', String(200 * 2 ** 20), ballast]);
  // A write at level one is refused only when every device refuses it.
  await waitFor('every device to refuse writes', {
    ask: () => put('torn?consistency=one', 'too much'),
    until: ({ status }) => status !== 204,
  });
  const refused = await put('torn', 'too much');
  expect(refused.status).toBe(503);
  const { code, message, hint, details } = refusalOf(refused);
  expect(code).toBe('NOT_ENOUGH_REPLICAS');
  expect(message).toContain('slots acknowledged');
  expect(hint).not.toBe('');
  expect(JSON.stringify(details.devices)).toContain('DISK_FULL');
  // The torn key is not checked: one device may hold it, and a read that returns it must repair it.
  expect(await read('kept')).toBe('before');
  for (let turn = 0; turn < 5; turn += 1) {
    expect((await put('kept', 'never stored')).status).toBe(503);
  }
  expect(await read('kept')).toBe('before');

  fs.rmSync(ballast);
  await waitFor('a write to be accepted again', {
    ask: async () => (await put('torn', 'after')).status,
    until: (status) => status === 204,
  });
  expect(await read('torn')).toBe('after');
  expect(await read('kept')).toBe('before');
});

test('a suddenly full disk ends the server and every start with exit code 4 and a message', async ({
  skip,
}) => {
  if (!isMounted) skip('no mount');
  const folder = path.join(disk, 'started');
  const cluster = await clusterForTest({ servers: 1, partitions: 4, replicas: 1, folder });
  const server = cluster.servers[0]!;
  const request = { method: 'PUT', path: `/v1/${keyspace}/key`, body: 'kept' } as const;
  expect((await askServer(server.place.port, request)).status).toBe(204);
  const ballast = path.join(disk, 'ballast');
  while (await outlives(server, ballast)) {
    fs.rmSync(ballast);
    await waitFor('a write to be accepted again', {
      ask: async () => (await askServer(server.place.port, request)).status,
      until: (status) => status === 204,
    });
  }
  expect(await server.exited()).toBe(4);
  // The server's log is on the same disk. The part that fit contains no stack trace.
  expect(server.logText()).not.toContain('    at ');
  const files = listFiles(server.place.data);
  // A failed start must leave the data directory as it found it.
  for (let turn = 0; turn < 3; turn += 1) {
    const said = startAside(server);
    expect(said.exit, said.text).toBe(4);
    expect(said.text).toMatch(/\d+ bytes are free, a start needs \d{8,} .*\[DISK_FULL\]/);
    expect(said.text).toContain(path.join(server.place.data, 'trash'));
    expect(said.text).not.toContain('    at ');
  }
  expect(listFiles(server.place.data).filter((name) => !files.includes(name))).toEqual([]);
  fs.rmSync(ballast);
  await server.start();
  await server.ready();
  const read = await askServer(server.place.port, { path: `/v1/${keyspace}/key` });
  expect(read.bytes.toString()).toBe('kept');
});

/**
 * Fills the disk at once, then sends more writes than the commit log already has room for. Returns
 * whether the server survives: a server that checked the disk in between refuses the writes.
 */
async function outlives({ place }: ServerUnderTest, ballast: string): Promise<boolean> {
  // Until no byte is left, not even the reserve.
  spawnSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=64k']);
  const answers = await Promise.allSettled(
    Array.from({ length: 40 }, (_, index) => {
      const body = 'x'.repeat(1_000_000);
      return askServer(place.port, { method: 'PUT', path: `/v1/${keyspace}/burst-${index}`, body });
    }),
  );
  return answers.every(({ status }) => status === 'fulfilled');
}

/** Starts the server with its log on another disk. */
function startAside({ place }: ServerUnderTest): { exit: number | null; text: string } {
  const { data, port, device } = place;
  const args = ['--data', data, '--listen', `127.0.0.1:${port}`, '--device', device];
  const run = spawnSync(process.execPath, [serverProgram, ...args], { encoding: 'utf8' });
  return { exit: run.status, text: `${run.stdout}${run.stderr}` };
}

function listFiles(folder: string): string[] {
  return fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
}
