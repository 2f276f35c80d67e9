// Checks, before a ring file replaces a whole history, whether the folder has that ring already or
// is an older state of the same history.
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { versionSpan } from '@ringwright/repository/folder/version-span';
import { type OpenedRing, openRing } from '@ringwright/repository/open-ring';
import { verifyRepository } from '@ringwright/repository/verify/verify-repository';
import { idAt } from '@ringwright/ring/audit/fork-point';
import { decodeRing, type RingFile } from '@ringwright/ring/file/ring-file';
import type { Context } from '../../cli/verb.ts';

/**
 * Returns false if the head is the ring of the file and the folder is sound. A damaged folder is
 * always replaced. Throws RING_FILE_INVALID and the like. With `replace`, throws
 * CONFIRMATION_NEEDED if a log would be lost for a few versions of the same history.
 */
export async function requireGain(
  context: Context,
  bytes: Uint8Array,
  wanted: { readonly name: string | undefined; readonly replace: boolean },
): Promise<boolean> {
  const given = decodeRing(bytes);
  const { keyspace } = given.ring;
  if (wanted.name !== undefined && wanted.name !== keyspace) return true;
  // A folder that cannot be read is replaced.
  const opened = await openRing(context.rings, keyspace).catch(() => null);
  const head = opened?.head ?? null;
  if (opened === null || head === null) return true;
  const isSame = head.id === given.id;
  if (!isSame && !wanted.replace) return true;
  if (!isSame && idAt({ ...given.ring, id: given.id }, head.version) !== head.id) return true;
  const found = await verifyRepository(context.rings, keyspace, null).catch(() => null);
  if (found === null || found.findings.length > 0) return true;
  if (isSame) return false;
  if (!context.yes) throw wouldLoseLog(context, { opened, head, given });
  return true;
}

interface Older {
  readonly opened: OpenedRing;
  readonly head: NonNullable<OpenedRing['head']>;
  readonly given: RingFile;
}

function wouldLoseLog({ rings }: Context, { opened, head, given }: Older): CodedError {
  const { keyspace, version } = given.ring;
  const entries = counted(opened.entries.length, 'entry', 'entries');
  const skipped = versionSpan(head.version + 1, version - 1);
  const lacking = version - 1 > head.version ? `without ${skipped}, and ` : '';
  return new CodedError(
    'CONFIRMATION_NEEDED',
    `the ring here is an older state of the same history: version ${head.version}, which version ` +
      `${version} follows. It would get that alone, ${lacking}with a log that begins anew`,
    {
      hint:
        'git pull brings all versions with their log, as does ring-builder rebase ' +
        `${keyspace} --onto FOLDER from another folder of rings; where none has them, add --yes: ` +
        `what is here, its versions and its log of ${entries}, is kept in ${rings}/.replaced`,
      details: { ring: keyspace, version: head.version, id: head.id, given: version },
    },
  );
}
