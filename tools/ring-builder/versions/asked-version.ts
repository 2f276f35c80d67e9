// The version that a command is about: its argument VERSION, else the head.
import type { LogEntry } from '@ringwright/repository/folder/log-entry';
import { readLog } from '@ringwright/repository/folder/read-log';
import { readVersion, type StoredVersion } from '@ringwright/repository/folder/read-version';
import { type Arguments, optionalText, text } from '../cli/arguments.ts';
import type { Context } from '../cli/verb.ts';
import { versionOf } from './version-reference.ts';

export const versionPositional = {
  version: { describe: '7, @~1 or the start of an id; default: the head' },
};

/** With the log it was found in. Throws RING_EMPTY, and what readVersion throws. */
export async function askedVersion(
  args: Arguments,
  { rings }: Pick<Context, 'rings'>,
): Promise<StoredVersion & { readonly entries: readonly LogEntry[] }> {
  const ring = text(args, 'ring');
  const entries = await readLog(rings, ring);
  const version = versionOf(ring, entries, optionalText(args, 'version'));
  return { ...(await readVersion(rings, ring, version)), entries };
}
