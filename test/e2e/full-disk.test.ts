// A disk without space: writes are refused with a reason, reads go on, and all is well with space.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { askServer, refusalOf } from '../support/ask-server.ts';
import { clusterForTest, keyspace } from '../support/cluster.ts';
import { waitFor } from '../support/wait-for.ts';

/** Above the reserve of 256 MiB that a store keeps, by room for the test's own files. */
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

test('writes are refused while the disk is full, reads are answered', async ({ skip }) => {
  if (!isMounted) skip('no mount');
  const folder = path.join(disk, 'cluster');
  const cluster = await clusterForTest({ servers: 3, partitions: 4, folder });
  const [port = 0] = cluster.ports();
  const keyPath = `/v1/${keyspace}/key`;
  const put = (body: string) => askServer(port, { method: 'PUT', path: keyPath, body });
  const read = async () => (await askServer(port, { path: keyPath })).bytes.toString();
  expect((await put('before')).status).toBe(204);

  const ballast = path.join(disk, 'ballast');
  execFileSync('fallocate', ['-l', String(200 * 2 ** 20), ballast]);
  const refused = await waitFor('a write to be refused', {
    ask: () => put('too much'),
    until: ({ status }) => status !== 204,
  });
  expect(refused.status).toBe(503);
  const { code, message, hint, details } = refusalOf(refused);
  expect(code).toBe('NOT_ENOUGH_REPLICAS');
  expect(message).toContain('slots answered');
  expect(hint).not.toBe('');
  expect(JSON.stringify(details.devices)).toContain('DISK_FULL');
  expect(await read()).toMatch(/^before$|^too much$/);
  const stored = await read();
  for (let turn = 0; turn < 5; turn += 1) expect((await put('never stored')).status).toBe(503);
  expect(await read()).toBe(stored);

  fs.rmSync(ballast);
  await waitFor('a write to be accepted again', {
    ask: async () => (await put('after')).status,
    until: (status) => status === 204,
  });
  expect(await read()).toBe('after');
});
