// The order of the test files: those that start processes come before those that compute. The
// longest of them take a minute, the longest of the others seconds, so that no worker is left
// alone with a long one at the end. Within each half, vitest's own order.
import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const root = path.resolve(import.meta.dirname, '../..');

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const { long = [], short = [] } = Object.groupBy(sorted, ({ moduleId }) =>
      path.relative(root, moduleId).startsWith('packages') ? 'short' : 'long',
    );
    return [...long, ...short];
  }
}
