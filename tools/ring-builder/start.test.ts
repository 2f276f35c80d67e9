// Tests what the tool prepares before it knows its command: each module delays every command.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { serversAtOnceMax } from './servers/server-connection.ts';

const root = path.join(import.meta.dirname, '../..');
const launcher = path.join(import.meta.dirname, 'launcher.mjs');
/** Prints each loaded module on stderr, with a prefix. */
const tellModules = `data:text/javascript,${encodeURIComponent(
  `import module from 'node:module';
  module.registerHooks({
    load: (url, context, next) => (console.error('loads', url), next(url, context)),
  });`,
)}`;

test('--help loads no module that reads rings', async () => {
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ['--import', tellModules, launcher, '--help'],
    { cwd: root },
  );
  expect(stdout).toContain('rollout');
  expect(stderr).toContain('tools/ring-builder/command-line.ts');
  expect(stderr).not.toMatch(/node_modules\/zod\/|packages\/(repository|builder|wire)\//);
});

/** Prints the number of threads at the end, once those of libuv's pool have started. */
const tellThreads = `data:text/javascript,${encodeURIComponent(
  `import { readdirSync, stat } from 'node:fs';
  process.on('exit', () => {
    stat('/', () => undefined);
    console.error('threads', readdirSync('/proc/self/task').length);
  });`,
)}`;

test('a name that no resolver answers leaves room for those of all servers asked', async () => {
  const { stderr } = await promisify(execFile)(
    process.execPath,
    ['--import', tellThreads, launcher, '--help'],
    { cwd: root },
  );
  const [, threads] = /^threads (\d+)$/m.exec(stderr) ?? [];
  // libuv resolves names in half of them.
  expect(Number(threads)).toBeGreaterThan(2 * serversAtOnceMax);
});
