// Which files are tests, and how they run: two processes, a limit only a hanging test reaches. One
// process runs file after file, with the modules that it has loaded: a process for each file costs
// half a second. What a file changes in its process it takes back, or test-folder.ts does.
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const root = path.resolve(import.meta.dirname, '../..');

/**
 * Programs and threads that tests start take from here what Node has compiled before. For threads
 * that is not speed alone: Node's compiler of TypeScript is WebAssembly, and V8 may end a process
 * whose threads load it and end (`jit_page.has_value()`, nodejs/node#64500).
 */
const compiled = path.join(root, 'node_modules/.cache/compiled');

/**
 * The order of the test files: those that start processes come before those that compute. The
 * longest of them take a minute, the longest of the others seconds, so that no worker is left alone
 * with a long one at the end. Within each half, vitest's own order.
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
