// Runs work around a rename, to change something in the middle of an adoption.
import fs from 'node:fs/promises';
import module from 'node:module';
import { onTestFinished } from 'vitest';

interface Around {
  readonly before: () => Promise<void>;
  readonly after: () => Promise<void>;
}

/** Runs `before` and `after` around the next rename that matches. */
export function aroundRename(
  matches: (from: string, to: string) => boolean,
  { before, after }: Around,
): void {
  const { rename } = fs;
  const restore = (): void => {
    fs.rename = rename;
    module.syncBuiltinESMExports();
  };
  onTestFinished(restore);
  fs.rename = async (from, to) => {
    if (!matches(String(from), String(to))) return rename(from, to);
    restore();
    await before();
    await rename(from, to);
    await after();
  };
  module.syncBuiltinESMExports();
}
