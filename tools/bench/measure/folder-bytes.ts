// How much the files of a folder hold.
import fs from 'node:fs/promises';
import path from 'node:path';

export async function folderBytes(folder: string): Promise<number> {
  const entries = await fs.readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  // A file may go between the two calls: a segment of the log that nobody needs.
  const stat = async (file: string): Promise<number> =>
    (await fs.stat(file).catch(() => null))?.size ?? 0;
  const sizes = await Promise.all(
    files.map(({ parentPath, name }) => stat(path.join(parentPath, name))),
  );
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}
