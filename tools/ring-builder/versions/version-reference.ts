// Resolves version references: `7`, `v7`, `head`, `@`, `@~2`, or the start of a ring id. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { type LogEntry, makesVersion } from '@ringwright/repository/folder/log-entry';
import { readLog, requireHead } from '@ringwright/repository/folder/read-log';
import { readVersion, type StoredVersion } from '@ringwright/repository/folder/read-version';
import { versionSpan } from '@ringwright/repository/folder/version-span';
import type { Arguments } from '../cli/arguments.ts';
import type { Context } from '../cli/command.ts';

const ID_CHARACTERS_MIN = 6;

/** Returns the number of a version in the log. Throws RING_EMPTY, RING_VERSION_UNKNOWN. */
export function versionOf(ring: string, entries: readonly LogEntry[], reference = 'head'): number {
  const head = requireHead(ring, entries);
  const logged = entries.filter(makesVersion);
  const number = /^v?(\d{1,10})$/.exec(reference)?.[1];
  const relative = /^(?:head|@)(?:~(\d{1,10}))?$/i.exec(reference);
  const byId = reference.length >= ID_CHARACTERS_MIN && /^[0-9a-f]+$/.test(reference);
  const target = relative === null ? Number(number) : head.version - Number(relative[1] ?? 0);
  const found =
    logged.find(({ version }) => version === target) ??
    (byId ? logged.find(({ id }) => id.startsWith(reference)) : undefined);
  if (found !== undefined) return found.version;
  throw new CodedError('RING_VERSION_UNKNOWN', `ring ${ring} has no version ${reference}`, {
    hint: `ring-builder log ${ring}; it has ${versionSpan(logged[0]?.version ?? 1, head.version)}`,
    details: { ring, version: reference, head: head.version },
  });
}

export const versionPositional = {
  version: { describe: '7, @~1 or the start of an id; default: the head' },
};

/** Returns the version with its log. Throws RING_EMPTY, and what readVersion throws. */
export async function askedVersion(
  args: Arguments,
  { rings }: Pick<Context, 'rings'>,
): Promise<StoredVersion & { readonly entries: readonly LogEntry[] }> {
  const ring = args.text('ring');
  const entries = await readLog(rings, ring);
  const version = versionOf(ring, entries, args.optionalText('version'));
  return { ...(await readVersion(rings, ring, version)), entries };
}
