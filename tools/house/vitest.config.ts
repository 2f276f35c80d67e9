// Which files are tests, and how they run: two processes, a limit only a hanging test reaches. One
// process runs file after file, with the modules that it has loaded: a process for each file costs
// half a second. What a file changes in its process it takes back, or test-folder.ts does.
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './longest-first.ts';

export default defineConfig({
  root: path.resolve(import.meta.dirname, '../..'),
  test: {
    include: ['packages/**/*.test.ts', 'tools/**/*.test.ts', 'test/**/*.test.ts'],
    setupFiles: [path.join(import.meta.dirname, 'test-folder.ts')],
    pool: 'forks',
    maxWorkers: 2,
    isolate: false,
    sequence: { sequencer: LongestFirst },
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
