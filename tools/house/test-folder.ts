// What the tests of one file leave in the folder for temporary files goes when they have passed;
// where one failed it stays to be looked at.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, beforeEach } from 'vitest';

const folder = mkdtempSync(path.join(tmpdir(), 'ringwright-'));
// Programs under test are read as one before them left them: a command starts in half the time.
process.env.NODE_COMPILE_CACHE ??= path.join(tmpdir(), 'node-compile-cache');
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
