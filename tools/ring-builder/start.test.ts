// Tests what the tool loads before it knows its command: each module delays every command.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

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
