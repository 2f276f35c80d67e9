// Which files are tests, and how they run: two processes, and a limit that only a hanging test
// reaches. Each process runs file after file and keeps its loaded modules, since a process per file
// would cost half a second each. A file undoes its changes to the process, or test-folder.ts does.
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const root = path.resolve(import.meta.dirname, '../..');

/**
 * Compile cache for the programs and threads that tests start. For threads it is more than speed:
 * Node's TypeScript compiler is WebAssembly, and V8 may crash a process whose threads load it and
 * end (`jit_page.has_value()`, nodejs/node#64500).
 */
const compiled = path.join(root, 'node_modules/.cache/compiled');

/**
 * Orders the test files: those that start processes come before those that only compute. The
 * longest of the former take a minute, the longest of the latter seconds, so that no worker is left
 * alone with a long file at the end. Within each half, the order is vitest's own.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const { long = [], short = [] } = Object.groupBy(sorted, ({ moduleId }) =>
      path.relative(root, moduleId).startsWith('packages') ? 'short' : 'long',
    );
    return [...long, ...short];
  }
}

export default defineConfig({
  root,
  test: {
    include: ['packages/**/*.test.ts', 'tools/**/*.test.ts', 'test/**/*.test.ts'],
    env: { NODE_COMPILE_CACHE: compiled },
    setupFiles: [path.join(import.meta.dirname, 'test-folder.ts')],
    pool: 'forks',
    maxWorkers: 2,
    isolate: false,
    sequence: { sequencer: LongestFirst },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
