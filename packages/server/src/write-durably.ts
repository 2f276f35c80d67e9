// Replacing a file so that a crash leaves the old bytes or the new, never a part.
import { rm } from 'node:fs/promises';
import { renameDurably, writeNewFile } from '@ringwright/partition/durable-files';

/** Durable when it resolves. Writers of one file must not overlap. */
export async function writeDurably(file: string, bytes: Uint8Array): Promise<void> {
  const temporary = `${file}.new`;
  await rm(temporary, { force: true }); // left by a crash
  await writeNewFile(temporary, bytes);
  // failpoint: write-durably.before-rename
  await renameDurably(temporary, file);
}
