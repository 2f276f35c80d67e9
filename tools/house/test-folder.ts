// What the tests of one file leave in the folder for temporary files goes when they have passed;
// where one failed it stays to be looked at. The next file of this process finds the environment
// that this one found.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, beforeEach } from 'vitest';

const environment = { ...process.env };
const folder = mkdtempSync(path.join(tmpdir(), 'ringwright-'));
process.env.TMPDIR = folder;
let hasFailed = false;

beforeEach(({ onTestFailed }) => {
  onTestFailed(() => {
    hasFailed = true;
  });
});

// The first to begin, so it ends after what the tests themselves end and remove.
beforeAll(() => () => {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, environment);
  if (!hasFailed) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});
