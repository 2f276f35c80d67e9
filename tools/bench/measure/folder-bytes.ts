// The total size of the files in a folder.
import fs from 'node:fs/promises';
import path from 'node:path';

export async function folderBytes(folder: string): Promise<number> {
  const entries = await fs.readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  // A file may disappear between the two calls: a log segment that is no longer needed.
  const stat = async (file: string): Promise<number> =>
    (await fs.stat(file).catch(() => null))?.size ?? 0;
  const sizes = await Promise.all(
    files.map(({ parentPath, name }) => stat(path.join(parentPath, name))),
  );
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}
