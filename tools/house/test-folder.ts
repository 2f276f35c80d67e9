// What the tests of one file leave in the folder for temporary files goes when they have passed;
// where one failed it stays to be looked at.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, beforeEach } from 'vitest';

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
  if (!hasFailed) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});
