// Which files are tests, and how they run: two processes, a limit only a hanging test reaches.
import path from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: path.resolve(import.meta.dirname, '../..'),
  test: {
    include: ['packages/**/*.test.ts', 'tools/**/*.test.ts', 'test/**/*.test.ts'],
    setupFiles: [path.join(import.meta.dirname, 'test-folder.ts')],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
