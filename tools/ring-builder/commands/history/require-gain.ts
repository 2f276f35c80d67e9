// What restore --replace would lose: a sound log is not given up for less of the same history.
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { hasVersion, type LogEntry, makesVersion } from '@ringwright/repository/folder/log-entry';
import { readLog } from '@ringwright/repository/folder/read-log';
import { readVersion, type StoredVersion } from '@ringwright/repository/folder/read-version';
import { versionSpan } from '@ringwright/repository/folder/version-span';
import { type OpenedRing, openRing } from '@ringwright/repository/open-ring';
import { verifyRepository } from '@ringwright/repository/verify/verify-repository';
import { ancestorIdAt } from '@ringwright/ring/audit/fork-point';
import { decodeRing } from '@ringwright/ring/file/ring-file';
import type { Ring } from '@ringwright/ring/ring';
import type { Context } from '../../cli/command.ts';

/**
 * Returns false if the head is the ring of the file and the folder is sound. A damaged folder is
 * always replaced. Throws RING_FILE_INVALID and the like. With `replace`, throws
 * CONFIRMATION_NEEDED if a log would be lost for a few versions of the same history, or for an
 * older one.
 */
export async function requireGain(
  context: Context,
  bytes: Uint8Array,
  options: { readonly name: string | undefined; readonly replace: boolean },
): Promise<boolean> {
  const { ring, id } = decodeRing(bytes);
  const { keyspace } = ring;
  if (options.name !== undefined && options.name !== keyspace) return true;
  const here = await ringHere(context, keyspace);
  if (here === null) return true;
  const isSame = here.head.id === id;
  if (!isSame && !options.replace) return true;
  const isOlder = hasVersion(here.entries, id);
  if (!isOlder && ancestorIdAt({ ...ring, id }, here.head.version) !== here.head.id) return true;
  if (!(await isSound(context, keyspace))) return true;
  if (isSame) return false;
  if (!context.yes) throw (isOlder ? wouldGoBack : wouldLoseLog)(context, here, ring);
  return true;
}

/**
 * Returns the head if the other folder of rings has the same, and no version that is not here.
 * Returns null if its history is to be taken. Throws CONFIRMATION_NEEDED if the other history is
 * an older state of the one here.
 */
export async function requireMore(
  context: Context,
  ring: string,
  from: string,
): Promise<StoredVersion | null> {
  const here = await ringHere(context, ring);
  if (here === null) return null;
  const theirs = (await readLog(from, ring)).filter(makesVersion);
  const last = theirs.at(-1);
  if (last === undefined || !hasVersion(here.entries, last.id)) return null;
  const isSame = last.id === here.head.id;
  if (isSame && theirs.length > here.entries.filter(makesVersion).length) return null;
  if (!(await isSound(context, ring))) return null;
  if (isSame) return readVersion(context.rings, ring, 'head');
  if (context.yes) return null;
  throw wouldGoBack(context, here, { keyspace: ring, version: last.version });
}

interface RingHere {
  readonly entries: readonly LogEntry[];
  readonly head: NonNullable<OpenedRing['head']>;
}

/** Returns null without versions, and for a folder that cannot be read: it is replaced. */
async function ringHere({ rings }: Context, ring: string): Promise<RingHere | null> {
  const opened = await openRing(rings, ring).catch(() => null);
  const head = opened?.head ?? null;
  return opened === null || head === null ? null : { entries: opened.entries, head };
}

async function isSound({ rings }: Context, ring: string): Promise<boolean> {
  const found = await verifyRepository(rings, ring, null).catch(() => null);
  return found !== null && found.findings.length === 0;
}

function wouldGoBack(
  { rings }: Context,
  { entries, head }: RingHere,
  { keyspace, version }: Pick<Ring, 'keyspace' | 'version'>,
): CodedError {
  return new CodedError(
    'CONFIRMATION_NEEDED',
    `the ring here is at version ${head.version}, has version ${version} in its history, and ` +
      `would go back to it`,
    {
      hint:
        `ring-builder revert ${keyspace} ${version} -m REASON commits its placement as a new ` +
        `version; to go back nevertheless, ${yesHint(rings, entries)}`,
      details: { ring: keyspace, version: head.version, id: head.id, given: version },
    },
  );
}

function wouldLoseLog(
  { rings }: Context,
  { entries, head }: RingHere,
  { keyspace, version }: Pick<Ring, 'keyspace' | 'version'>,
): CodedError {
  const skipped = versionSpan(head.version + 1, version - 1);
  const lacking = version - 1 > head.version ? `without ${skipped}, and ` : '';
  return new CodedError(
    'CONFIRMATION_NEEDED',
    `the ring here is at version ${head.version} of the same history, and would get only version ` +
      `${version}, ${lacking}with a new log`,
    {
      hint:
        'git pull brings all versions and their log, and so does ring-builder rebase ' +
        `${keyspace} --onto FOLDER from another folder of rings; if nobody has them, ` +
        yesHint(rings, entries),
      details: { ring: keyspace, version: head.version, id: head.id, given: version },
    },
  );
}

function yesHint(rings: string, entries: readonly LogEntry[]): string {
  const count = counted(entries.length, 'entry', 'entries');
  return `add --yes: the versions and the log of ${count} here are kept in ${rings}/.replaced`;
}
