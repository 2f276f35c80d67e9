// Removes the temporary files of a test file after all of its tests have passed. After a failure
// they stay for inspection. Also restores the environment for the next test file in this process,
// and keeps tests from the user's folder of keys.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, beforeEach } from 'vitest';

const environment = { ...process.env };
const folder = mkdtempSync(path.join(tmpdir(), 'ringwright-'));
process.env.TMPDIR = folder;
process.env.RING_BUILDER_KEYS = path.join(folder, 'keys');
let hasFailed = false;

beforeEach(({ onTestFailed }) => {
  onTestFailed(() => {
    hasFailed = true;
  });
});

// Registered first, so it runs after the tests' own cleanup.
beforeAll(() => () => {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, environment);
  if (!hasFailed) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});
