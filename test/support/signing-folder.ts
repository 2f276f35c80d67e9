// A scratch folder in which signing is on, for tests with real servers.
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { ringBuilderIn } from './ring-builder-program.ts';

export const passphrase = 'correct horse';

/** `root`: the id to which `--trust` may refer. Later commands of the test file use the same keys. */
export async function signingFolder() {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'ringwright-e2e-'));
  const keys = path.join(folder, 'keys');
  process.env['RING_BUILDER_KEYS'] = keys;
  process.env['RING_BUILDER_PASSPHRASE'] = passphrase;
  const tool = await ringBuilderIn(folder);
  const { root } = await tool.json<{ root: string }>('key generate ada');
  return { folder, keys, root };
}
