// Both programs start from any entry point, even if the machine's own Node is too old for them.
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { freePorts } from '@ringwright/node/free-ports';
import { waitFor } from '@ringwright/node/wait-for';
import { expect, onTestFinished, test } from 'vitest';
import { askServer } from '../support/ask-server.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const modules = path.join(import.meta.dirname, '../../node_modules');
const linkOf = (name: string): string => path.join(modules, '.bin', name);

/**
 * Returns a PATH as a service has it, in which the first Node is too old; null on other machines.
 */
function pathOfOldNode(): string | null {
  for (const folder of ['/usr/local/bin', '/usr/bin', '/bin']) {
    const node = path.join(folder, 'node');
    if (!fs.existsSync(node)) continue;
    const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
    return Number.parseInt(stdout.slice(1), 10) < 24 ? `${folder}:/usr/bin:/bin` : null;
  }
  return null;
}

const oldPath = pathOfOldNode();
if (oldPath === null) console.warn('launcher: this machine has no Node that is too old');
const env = { PATH: oldPath ?? '', HOME: process.env['HOME'] };

test.skipIf(oldPath === null)('an explicitly named old Node is refused with a message', () => {
  for (const name of ['ring-builder', 'ring-server']) {
    const run = spawnSync('node', [linkOf(name), '--help'], { env, encoding: 'utf8' });
    expect(run.status).toBe(2);
    expect(run.stderr).toMatch(/^ring-\w+: Node 24 or newer is needed, this is v\d+[\d.]+ \[USAGE/);
    expect(run.stderr).toContain(linkOf(name));
    expect(run.stderr).not.toContain('SyntaxError');
  }
});

test.skipIf(oldPath === null)('a program finds a Node that is new enough', () => {
  for (const name of ['ring-builder', 'ring-server']) {
    const run = spawnSync(linkOf(name), ['--help'], { env, cwd: '/', encoding: 'utf8' });
    expect(run.stderr).toBe('');
    expect(run.status).toBe(0);
    expect(run.stdout).toContain(name);
  }
  const refused = spawnSync(linkOf('ring-builder'), ['no such', "com'mand"], { env });
  expect(refused.status, 'exit codes come through').toBe(2);
});

test('a signal to the started process stops the server cleanly', async () => {
  await using folder = await scratchFolder();
  const [port = 0] = await freePorts(1);
  const args = ['--data', path.join(folder.path, 'sd 1'), '--listen', `127.0.0.1:${port}`];
  const stdio = ['ignore', 'ignore', 'inherit'] as const;
  const options = { stdio: [...stdio], ...(oldPath !== null && { env }) };
  const child = spawn(linkOf('ring-server'), args, options);
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  await waitFor('the server to listen', {
    ask: async () => (await askServer(port, { path: '/healthz' })).status,
    until: (status) => status === 200,
  });
  // No shell and no other Node runs in between.
  const program = fs.readlinkSync(`/proc/${child.pid}/exe`);
  expect(program).toBe(fs.realpathSync(process.execPath));
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
});

/** Returns a user id without an account, as containers assign it; null if it cannot be used. */
function nameless(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const ids = { uid: 54_321, gid: 54_321 };
  return spawnSync('test', ['-r', linkOf('ring-server')], ids).status === 0 ? ids : null;
}

test('both programs run under a user id without a name, and refuse foreign folders', async ({
  skip,
}) => {
  const ids = nameless();
  if (ids === null) return skip('only root takes other user ids, of a checkout they may read');
  await using folder = await scratchFolder();
  const [own, foreign] = [path.join(folder.path, 'own'), path.join(folder.path, 'foreign')];
  fs.chmodSync(folder.path, 0o755);
  for (const directory of [own, foreign]) fs.mkdirSync(directory);
  fs.chownSync(own, ids.uid, ids.gid);
  const env = { PATH: process.env['PATH'] };
  const run = (name: string, ...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(linkOf(name), args, {
      ...ids,
      env,
      cwd: own,
      encoding: 'utf8',
    });
    return { status, said: stdout + stderr };
  };
  const create = [
    'create',
    'notes',
    '--partitions',
    '4',
    '--replicas',
    '1',
    '--unsigned',
    '--rings',
  ];
  expect(run('ring-builder', ...create, 'rings')).toMatchObject({ status: 0 });
  expect(run('ring-builder', 'status', 'notes')).toMatchObject({ status: 0 });
  for (const refused of [
    run('ring-builder', ...create, path.join(foreign, 'rings')),
    run('ring-server', '--data', path.join(foreign, 'sd1')),
    run('ring-server', '--data', foreign),
    run('ring-server', '--data', path.join(own, 'sd1'), '--mount-check'),
  ]) {
    expect(refused.status, refused.said).toBe(4);
    expect(refused.said).toMatch(/DISK_FAILED|DATA_DIR_NOT_MOUNTED/);
    expect(refused.said).not.toContain('    at ');
  }
  expect(fs.readdirSync(foreign)).toEqual([]);
});
